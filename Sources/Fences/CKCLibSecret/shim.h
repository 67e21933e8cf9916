#pragma once

#include <asm/socket.h>
#include <dlfcn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* libsecret, and the parts of GLib that talk to D-Bus, as function pointers that are looked up on demand. So the
   program starts without the library and is built without its headers. A test compiles this file after those headers,
   which verifies that the declarations match. */

typedef struct _GAsyncInitable GAsyncInitable;
typedef struct _GAsyncResult GAsyncResult;
typedef struct _GCancellable GCancellable;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GIOStream GIOStream;
typedef struct _GMainContext GMainContext;
typedef struct _GObject GObject;
typedef struct _GSocket GSocket;
typedef struct _GSocketConnection GSocketConnection;
typedef struct _GSource GSource;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;
typedef struct _SecretService SecretService;
typedef struct _SecretValue SecretValue;
typedef struct _GError GError;

#ifndef __G_ERROR_H__
struct _GError {
    unsigned int domain;
    int code;
    char *message;
};
#endif

typedef void (*csecret_ready)(GObject *, GAsyncResult *, void *);
typedef void (*csecret_signal)(
    GDBusConnection *, const char *, const char *, const char *, const char *, GVariant *, void *);
typedef void (*csecret_destroy)(void *);
typedef int (*csecret_tick)(void *);
typedef void (*csecret_log)(const char *, int, const char *, void *);
typedef void (*csecret_class_setup)(void *, void *);
typedef struct _GTypeQuery GTypeQuery;
typedef struct _GTypeInstance GTypeInstance;
typedef void (*csecret_instance_setup)(GTypeInstance *, void *);

#define CSECRET_FUNCTIONS(F) \
    F(void, g_free, (void *)) \
    F(void, g_error_free, (GError *)) \
    F(unsigned int, g_io_error_quark, (void)) \
    F(csecret_log, g_log_set_default_handler, (csecret_log, void *)) \
    F(long, g_get_monotonic_time, (void)) \
    F(void *, g_object_ref, (void *)) \
    F(void, g_object_unref, (void *)) \
    F(GMainContext *, g_main_context_new, (void)) \
    F(void, g_main_context_unref, (GMainContext *)) \
    F(void, g_main_context_push_thread_default, (GMainContext *)) \
    F(void, g_main_context_pop_thread_default, (GMainContext *)) \
    F(int, g_main_context_iteration, (GMainContext *, int)) \
    F(GSource *, g_timeout_source_new, (unsigned int)) \
    F(void, g_source_set_callback, (GSource *, csecret_tick, void *, csecret_destroy)) \
    F(unsigned int, g_source_attach, (GSource *, GMainContext *)) \
    F(void, g_source_destroy, (GSource *)) \
    F(void, g_source_unref, (GSource *)) \
    F(GCancellable *, g_cancellable_new, (void)) \
    F(void, g_cancellable_cancel, (GCancellable *)) \
    F(GVariant *, g_variant_new_boolean, (int)) \
    F(GVariant *, g_variant_new_string, (const char *)) \
    F(GVariant *, g_variant_new_object_path, (const char *)) \
    F(GVariant *, g_variant_new_uint32, (unsigned int)) \
    F(GVariant *, g_variant_new_variant, (GVariant *)) \
    F(GVariant *, g_variant_new_tuple, (GVariant *const *, size_t)) \
    F(GVariant *, g_variant_new_dict_entry, (GVariant *, GVariant *)) \
    F(GVariant *, g_variant_new_array, (const GVariantType *, GVariant *const *, size_t)) \
    F(int, g_variant_is_object_path, (const char *)) \
    F(GVariant *, g_variant_ref_sink, (GVariant *)) \
    F(void, g_variant_unref, (GVariant *)) \
    F(int, g_variant_is_of_type, (GVariant *, const GVariantType *)) \
    F(size_t, g_variant_n_children, (GVariant *)) \
    F(GVariant *, g_variant_get_child_value, (GVariant *, size_t)) \
    F(const char *, g_variant_get_string, (GVariant *, size_t *)) \
    F(unsigned long, g_variant_get_uint64, (GVariant *)) \
    F(unsigned int, g_variant_get_uint32, (GVariant *)) \
    F(int, g_variant_get_boolean, (GVariant *)) \
    F(GVariant *, g_variant_get_variant, (GVariant *)) \
    F(int, g_dbus_is_unique_name, (const char *)) \
    F(GObject *, g_async_initable_new_finish, (GAsyncInitable *, GAsyncResult *, GError **)) \
    F(void, g_dbus_connection_new_for_address, \
        (const char *, unsigned int, GDBusAuthObserver *, GCancellable *, csecret_ready, void *)) \
    F(GDBusConnection *, g_dbus_connection_new_for_address_finish, (GAsyncResult *, GError **)) \
    F(GIOStream *, g_dbus_connection_get_stream, (GDBusConnection *)) \
    F(unsigned long, g_socket_connection_get_type, (void)) \
    F(GSocket *, g_socket_connection_get_socket, (GSocketConnection *)) \
    F(int, g_socket_get_fd, (GSocket *)) \
    F(void, g_dbus_connection_close, (GDBusConnection *, GCancellable *, csecret_ready, void *)) \
    F(int, g_dbus_connection_is_closed, (GDBusConnection *)) \
    F(void, g_dbus_connection_call, \
        (GDBusConnection *, const char *, const char *, const char *, const char *, GVariant *, \
         const GVariantType *, unsigned int, int, GCancellable *, csecret_ready, void *)) \
    F(GVariant *, g_dbus_connection_call_finish, (GDBusConnection *, GAsyncResult *, GError **)) \
    F(unsigned int, g_dbus_connection_signal_subscribe, \
        (GDBusConnection *, const char *, const char *, const char *, const char *, const char *, unsigned int, \
         csecret_signal, void *, csecret_destroy)) \
    F(void, g_dbus_connection_signal_unsubscribe, (GDBusConnection *, unsigned int)) \
    F(char *, g_dbus_error_get_remote_error, (const GError *)) \
    F(int, g_dbus_error_strip_remote_error, (GError *)) \
    F(int, g_type_check_instance_is_a, (GTypeInstance *, unsigned long)) \
    F(void *, g_type_class_peek, (unsigned long)) \
    F(void, g_type_query, (unsigned long, GTypeQuery *)) \
    F(unsigned long, g_type_register_static_simple, \
        (unsigned long, const char *, unsigned int, csecret_class_setup, unsigned int, csecret_instance_setup, \
         unsigned int)) \
    F(unsigned long, secret_service_get_type, (void)) \
    F(const char *, secret_service_get_session_algorithms, (SecretService *)) \
    F(const char *, secret_service_get_session_dbus_path, (SecretService *)) \
    F(SecretValue *, secret_service_decode_dbus_secret, (SecretService *, GVariant *)) \
    F(GVariant *, secret_service_encode_dbus_secret, (SecretService *, SecretValue *)) \
    F(SecretValue *, secret_value_new, (const char *, ssize_t, const char *)) \
    F(const char *, secret_value_get, (SecretValue *, size_t *)) \
    F(const char *, secret_value_get_content_type, (SecretValue *)) \
    F(void, secret_value_unref, (void *))


struct csecret_functions {
#define CSECRET_FIELD(result, name, arguments) result (*name) arguments;
    CSECRET_FUNCTIONS(CSECRET_FIELD)
#undef CSECRET_FIELD
    /* Variadic, which Swift cannot call. */
    void *g_async_initable_new_async, *g_object_set;
};

/* The message of every failure reaches the program as an error as well. */
static inline void csecret_be_silent(const char *domain, int level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

/* Fills the table; returns NULL, or the name of the missing library or function. */
static inline const char *csecret_load(struct csecret_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return library;
#define CSECRET_FIND(result, name, arguments) \
    if (!(table->name = (result (*) arguments)dlsym(handle, #name))) return #name;
    CSECRET_FUNCTIONS(CSECRET_FIND)
#undef CSECRET_FIND
    if (!(table->g_async_initable_new_async = dlsym(handle, "g_async_initable_new_async")))
        return "g_async_initable_new_async";
    if (!(table->g_object_set = dlsym(handle, "g_object_set"))) return "g_object_set";
    table->g_log_set_default_handler(csecret_be_silent, NULL);
    return NULL;
}

/* libsecret's object always connects to the session bus of the process, even if it is given another connection. This
   subclass restores the given connection. */

typedef GObject *(*csecret_constructor)(unsigned long, unsigned int, void *);

/* The first fields of a GObjectClass. */
struct csecret_class {
    unsigned long type;
    void *construct_properties;
    csecret_constructor constructor;
};

/* The data that the constructor needs; GLib offers no other way to pass it. */
struct csecret_subclass {
    const struct csecret_functions *table;
    unsigned long type;
};

static inline struct csecret_subclass *csecret_subclass(void) {
    static struct csecret_subclass subclass;
    return &subclass;
}

static inline GObject *csecret_construct(unsigned long type, unsigned int count, void *properties) {
    const struct csecret_functions *table = csecret_subclass()->table;
    struct csecret_class *parent = (struct csecret_class *)table->g_type_class_peek(table->secret_service_get_type());
    GObject *object = parent->constructor(type, count, properties);
    ((void (*)(void *, const char *, ...))table->g_object_set)(object, "g-bus-type", 0, NULL);
    return object;
}

static inline void csecret_class_init(void *given, void *data) {
    (void)data;
    ((struct csecret_class *)given)->constructor = csecret_construct;
}

/* Registers the class once; not thread-safe. */
static inline void csecret_register(const struct csecret_functions *table) {
    struct csecret_subclass *subclass = csecret_subclass();
    if (subclass->type) return;
    struct { unsigned long type; const char *name; unsigned int class_size, instance_size; } parent;
    subclass->table = table;
    table->g_type_query(table->secret_service_get_type(), (GTypeQuery *)&parent);
    subclass->type = table->g_type_register_static_simple(
        table->secret_service_get_type(), "KcbackupSecretService", parent.class_size, csecret_class_init,
        parent.instance_size, NULL, 0);
}

/* Connects to the service on a bus and opens an encrypted session; csecret_opened takes the result. */
static inline void csecret_open(
    GDBusConnection *connection, GCancellable *cancellable, csecret_ready ready, void *data) {
    typedef void (*new_async)(unsigned long, int, GCancellable *, csecret_ready, void *, const char *, ...);
    const struct csecret_functions *table = csecret_subclass()->table;
    /* 1 << 1 is SECRET_SERVICE_OPEN_SESSION. */
    ((new_async)table->g_async_initable_new_async)(
        csecret_subclass()->type, 0, cancellable, ready, data, "g-connection", connection, "flags", 1 << 1, NULL);
}

static inline SecretService *csecret_opened(GObject *source, GAsyncResult *result, GError **error) {
    return (SecretService *)csecret_subclass()->table->g_async_initable_new_finish(
        (GAsyncInitable *)source, result, error);
}

/* The user who listens at the other end of a connection; (uid_t)-1 if it cannot be known, as over a network. */
static inline uid_t csecret_peer(const struct csecret_functions *table, GDBusConnection *connection) {
    /* As in unix(7); its name is hidden from strict C. */
    struct { pid_t process; uid_t user; gid_t group; } peer = { 0, (uid_t)-1, (gid_t)-1 };
    socklen_t size = sizeof peer;
    GIOStream *stream = table->g_dbus_connection_get_stream(connection);
    if (!table->g_type_check_instance_is_a((GTypeInstance *)stream, table->g_socket_connection_get_type()))
        return (uid_t)-1;
    int socket = table->g_socket_get_fd(table->g_socket_connection_get_socket((GSocketConnection *)stream));
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? (uid_t)-1 : peer.user;
}
