/* Slots and parities of synchronising statements, as they are written. */
#pragma once

#include "import/python/edits/spots.h"

G_BEGIN_DECLS

const PyWord *py_word_at(const GArray *words, guint i); /* NULL behind the last one */
/* The text from one word to another. Caller frees. */
char *py_text_of(const PySpot *s, const GArray *words, guint from, guint to);

typedef void (*PyEachPart)(PyEdits *e, const PySpot *s, const GArray *words, guint from, guint to,
                           gboolean parity, gpointer data);
/* Calls `act` for every slot and every parity in the head of a statement. */
void py_each_part(PyEdits *e, const PySpot *s, const GArray *words, PyEachPart act, gpointer data);

/* Texts of slots and parities (char*). Owns its tables. */
typedef struct {
    GHashTable *parity, *index;
} PyTexts;
/* Adds those of one function, or of all (-1). */
void py_texts(const PySpots *spots, gint function, PyTexts *t);
void py_texts_clear(PyTexts *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PyTexts, py_texts_clear)

G_END_DECLS
