#pragma once

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* libyaml as function pointers that are looked up on demand: only files of Kubernetes need it. The types are those of
   its header. */

#define CYAML_FUNCTIONS(F) \
    F(yaml_event_delete) \
    F(yaml_parser_delete) \
    F(yaml_parser_initialize) \
    F(yaml_parser_parse) \
    F(yaml_parser_set_encoding) \
    F(yaml_parser_set_input)

struct cyaml_functions {
#define CYAML_FIELD(name) __typeof__(name) *name;
    CYAML_FUNCTIONS(CYAML_FIELD)
#undef CYAML_FIELD
};

/* Fills the table; false if the library or a function is missing. */
static inline bool cyaml_load(struct cyaml_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return false;
#define CYAML_FIND(name) \
    if (!(table->name = (__typeof__(name) *)dlsym(handle, #name))) return false;
    CYAML_FUNCTIONS(CYAML_FIND)
#undef CYAML_FIND
    return true;
}

/* The parts of an event that are used. The texts belong to the library, and are null where an event has none. */
struct cyaml_event {
    yaml_event_t event;
    const unsigned char *anchor;
    const unsigned char *tag;
    const unsigned char *text;
    size_t length;
    /* From 1. */
    size_t line;
    /* True for a scalar without quotation marks that is not a block. */
    bool is_plain;
};

/* A thread keeps up to seven blocks of each size up to CYAML_KEPT bytes for itself when they are freed. This overwrites
   those of a size. */
#define CYAML_KEPT 1032
static inline void cyaml_wipe_kept(size_t size) {
    void *kept[7];
    for (int i = 0; i < 7; i++) {
        kept[i] = malloc(size);
        if (kept[i]) explicit_bzero(kept[i], size);
    }
    for (int i = 0; i < 7; i++) free(kept[i]);
}

/* While on, the C library overwrites each block that is freed, in all threads (mallopt(3), M_PERTURB): libyaml has no
   allocator to replace, and moves long values while they grow. Blocks that a thread keeps are left out, and overwritten
   at the end. */
static inline void cyaml_wipe_freed(bool on) {
    mallopt(M_PERTURB, on ? 0xff : 0);
    if (on) return;
    for (size_t size = 24; size <= CYAML_KEPT; size += 16) cyaml_wipe_kept(size);
}

/* Begins a document in UTF-8; null if there is no memory. */
static inline yaml_parser_t *cyaml_open(
    const struct cyaml_functions *table, yaml_read_handler_t *handler, void *context) {
    yaml_parser_t *parser = calloc(1, sizeof *parser);
    if (!parser) return NULL;
    if (!table->yaml_parser_initialize(parser)) {
        free(parser);
        return NULL;
    }
    cyaml_wipe_freed(true);
    table->yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    table->yaml_parser_set_input(parser, handler, context);
    return parser;
}

/* Finds the next event, which cyaml_done must end; false if the text is not YAML. */
static inline bool cyaml_next(
    const struct cyaml_functions *table, yaml_parser_t *parser, struct cyaml_event *found) {
    memset(found, 0, sizeof *found);
    size_t before = parser->mark.index;
    bool is_read = table->yaml_parser_parse(parser, &found->event);
    /* A text that grew has left parts of itself in freed blocks of 32, 64, 128 bytes and so on. The next allocation,
       such as for an error message, would get one as it is. A character has up to four bytes. */
    size_t size = 4 * (parser->mark.index - before);
    for (size_t block = 32; block <= size && block + 8 <= CYAML_KEPT; block *= 2) cyaml_wipe_kept(block + 8);
    if (!is_read) return false;
    const yaml_event_t *event = &found->event;
    found->line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_ALIAS_EVENT: found->anchor = event->data.alias.anchor; break;
    case YAML_SCALAR_EVENT:
        found->anchor = event->data.scalar.anchor;
        found->tag = event->data.scalar.tag;
        found->text = event->data.scalar.value;
        found->length = event->data.scalar.length;
        found->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        break;
    case YAML_SEQUENCE_START_EVENT:
        found->anchor = event->data.sequence_start.anchor;
        found->tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        found->anchor = event->data.mapping_start.anchor;
        found->tag = event->data.mapping_start.tag;
        break;
    default: break;
    }
    return true;
}

static inline void cyaml_done(const struct cyaml_functions *table, struct cyaml_event *found) {
    if (found->text) explicit_bzero(found->event.data.scalar.value, found->length);
    table->yaml_event_delete(&found->event);
}

/* Wipes the text that the library still holds, and ends the parser. */
static inline void cyaml_close(const struct cyaml_functions *table, yaml_parser_t *parser) {
    for (yaml_token_t *token = parser->tokens.head; token != parser->tokens.tail; token++)
        if (token->type == YAML_SCALAR_TOKEN) explicit_bzero(token->data.scalar.value, token->data.scalar.length);
    if (parser->raw_buffer.start)
        explicit_bzero(parser->raw_buffer.start, (size_t)(parser->raw_buffer.end - parser->raw_buffer.start));
    if (parser->buffer.start)
        explicit_bzero(parser->buffer.start, (size_t)(parser->buffer.end - parser->buffer.start));
    table->yaml_parser_delete(parser);
    free(parser);
    cyaml_wipe_freed(false);
}
