/* An edit in its text form (model/design.h), as tests write it, made to a draft. */
#ifndef TESTS_EDIT_LINE_H
#define TESTS_EDIT_LINE_H

#include "edit/draft.h"

static inline gboolean draft_line(WsDraft *d, const char *line)
{
    WsEdit *edit = ws_edit_parse(line, NULL);
    return edit ? ws_draft_apply(d, edit) : ws_draft_refuse(d, "no edit: %s", line);
}

#endif
