#include "clients/viewer/sidebar/event_rows.h"

#include "clients/viewer/state/search.h"
#include "clients/viewer/diagram/viewer.h"

G_DEFINE_FINAL_TYPE(PoetRow, poet_row, G_TYPE_OBJECT)
static void poet_row_class_init(PoetRowClass *class) { (void)class; }
static void poet_row_init(PoetRow *row) { (void)row; }

static GType item_type(GListModel *model)
{
    (void)model;
    return POET_TYPE_ROW;
}

static guint item_count(GListModel *model) { return POET_ROWS(model)->count; }

static gpointer item_at(GListModel *model, guint index)
{
    PoetRows *rows = POET_ROWS(model);
    if (index >= rows->count || (rows->hits && index >= rows->view->search.hit_count))
        return NULL;
    PoetRow *row = g_object_new(POET_TYPE_ROW, NULL);
    row->position = event_rows_position(rows, index);
    return row;
}

static void model_init(GListModelInterface *interface)
{
    interface->get_item_type = item_type;
    interface->get_n_items = item_count;
    interface->get_item = item_at;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(PoetRows, poet_rows, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, model_init))

static void free_entry(gpointer p)
{
    struct event_row_entry *e = p;
    for (size_t i = 0; i < CELLS; i++)
        g_free(e->cells[i]);
    g_free(e->text);
    g_free(e);
}

static void poet_rows_finalize(GObject *object)
{
    PoetRows *rows = POET_ROWS(object);
    g_hash_table_destroy(rows->entries);
    g_hash_table_destroy(rows->asked);
    g_hash_table_destroy(rows->listing);
    G_OBJECT_CLASS(poet_rows_parent_class)->finalize(object);
}

static void poet_rows_class_init(PoetRowsClass *class)
{
    G_OBJECT_CLASS(class)->finalize = poet_rows_finalize;
}

static void poet_rows_init(PoetRows *rows)
{
    rows->entries = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_entry);
    rows->asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    rows->listing = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

uint64_t event_rows_position(const PoetRows *rows, guint index)
{
    return rows->hits ? rows->view->search.positions[index] : index;
}

bool event_rows_are_complete(const PoetRows *rows)
{
    for (guint i = 0; i < rows->count; i++) {
        uint64_t position = event_rows_position(rows, i);
        if (!g_hash_table_contains(rows->entries, &position))
            return false;
    }
    return true;
}

int event_rows_compare(const PoetRows *rows, const PoetRow *a, const PoetRow *b,
                       enum event_row_cell cell)
{
    const struct event_row_entry *x = g_hash_table_lookup(rows->entries, &a->position),
                                 *y = g_hash_table_lookup(rows->entries, &b->position);
    int order = 0;
    if (x && y && cell == CELL_TIME)
        order = x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
    else if (x && y)
        order = g_strcmp0(x->cells[cell], y->cells[cell]);
    return order ? order : a->position < b->position ? -1 : a->position > b->position;
}
