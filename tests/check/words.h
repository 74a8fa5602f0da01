/* Words in the texts of findings. */
#pragma once

#include <glib.h>
#include <string.h>

/* Whether `word` stands in `text` as a whole: no letter, digit or underscore on either side. */
static inline gboolean has_word(const char *text, const char *word)
{
    for (const char *at = *word ? strstr(text, word) : NULL; at; at = strstr(at + 1, word)) {
        const char after = at[strlen(word)], before = at > text ? at[-1] : ' ';
        if (!g_ascii_isalnum(after) && after != '_' && !g_ascii_isalnum(before) && before != '_')
            return TRUE;
    }
    return FALSE;
}
