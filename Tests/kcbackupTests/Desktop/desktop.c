/* Fills the Secret Service of a session and prints its contents, using only libsecret. Tests compare against it.
 *
 *   desktop fill COLLECTIONS ITEMS   creates collections with the password 'pw', and items in them
 *   desktop make LABEL               creates a collection with the password 'pw'
 *   desktop add PATH LABEL SECRET NAME VALUE   adds an item to the collection at the end of the path
 *   desktop secret PATH SECRET       changes the secret of the item at the end of the path
 *   desktop dump                     prints one line per item, with everything but its dates
 *   desktop count                    reads everything as 'dump' does, but prints only the number of items
 */
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what, GError *error) {
    if (holds) return;
    fprintf(stderr, "desktop: %s: %s\n", what, error ? error->message : "failed");
    exit(1);
}

static char *make(SecretService *service, const char *label) {
    GError *error = NULL;
    SecretValue *password = secret_value_new("pw", -1, "text/plain");
    GVariantBuilder properties;
    g_variant_builder_init(&properties, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(
        &properties, "{sv}", "org.freedesktop.Secret.Collection.Label", g_variant_new_string(label));
    GVariant *reply = g_dbus_connection_call_sync(
        g_dbus_proxy_get_connection(G_DBUS_PROXY(service)), "org.freedesktop.secrets", "/org/freedesktop/secrets",
        "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
        g_variant_new("(a{sv}@(oayays))", &properties, secret_service_encode_dbus_secret(service, password)),
        G_VARIANT_TYPE("(o)"), 0, -1, NULL, &error);
    require(reply != NULL, "making a collection", error);
    char *path = NULL;
    g_variant_get(reply, "(o)", &path);
    return path;
}

static void fill(SecretService *service, int collections, int items) {
    GError *error = NULL;
    char **paths = g_new0(char *, collections + 1);
    for (int i = 0; i < collections; i++) {
        char *label = g_strdup_printf(i == 1 ? "Gr\xc3\xb6\xc3\x9f%d" : "Collection %d", i);
        paths[i] = make(service, label);
        g_free(label);
    }
    for (int i = 0; i < items; i++) {
        GHashTable *attributes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        char secret[64];
        int size = snprintf(secret, sizeof secret, "secret%c%d\n%c", i % 3 ? '-' : 0, i, i % 5 ? 'x' : 0xff);
        char *label = g_strdup_printf(i % 7 ? "Item %d" : "Item\t%d\n\x1b[31m", i);
        int network = i % 4 == 1;
        g_hash_table_insert(
            attributes, g_strdup("xdg:schema"),
            g_strdup(network ? "org.gnome.keyring.NetworkPassword" : "org.example.Thing"));
        g_hash_table_insert(attributes, g_strdup(network ? "server" : "service"), g_strdup_printf("host%d.example.org", i));
        g_hash_table_insert(attributes, g_strdup("user"), g_strdup(i % 9 ? "ada" : ""));
        if (network) g_hash_table_insert(attributes, g_strdup("protocol"), g_strdup("imap"));
        if (i % 11 == 0) g_hash_table_insert(attributes, g_strdup("kcbackup:collection"), g_strdup("theirs"));
        GHashTable *properties = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_variant_unref);
        GVariantBuilder builder;
        g_variant_builder_init(&builder, G_VARIANT_TYPE("a{ss}"));
        GHashTableIter iterator;
        gpointer key, value;
        g_hash_table_iter_init(&iterator, attributes);
        while (g_hash_table_iter_next(&iterator, &key, &value)) g_variant_builder_add(&builder, "{ss}", key, value);
        g_hash_table_insert(
            properties, "org.freedesktop.Secret.Item" ".Label", g_variant_ref_sink(g_variant_new_string(label)));
        g_hash_table_insert(
            properties, "org.freedesktop.Secret.Item" ".Attributes", g_variant_ref_sink(g_variant_builder_end(&builder)));
        SecretValue *secret_value = secret_value_new(secret, i % 13 ? size : 0, "text/plain");
        /* Every 17th item exists twice. */
        for (int copy = 0; copy < (i % 17 == 3 ? 2 : 1); copy++) {
            char *path = secret_service_create_item_dbus_path_sync(
                service, paths[i % collections], properties, secret_value, SECRET_ITEM_CREATE_NONE, NULL, &error);
            require(path != NULL, "making an item", error);
            g_free(path);
        }
        secret_value_unref(secret_value);
        g_hash_table_unref(properties);
        g_hash_table_unref(attributes);
        g_free(label);
    }
}

static SecretValue *text(const char *secret) { return secret_value_new(secret, -1, "text/plain"); }

static char *below(const char *path) { return g_strdup_printf("/org/freedesktop/secrets/collection/%s", path); }

static void add(SecretService *service, char **words) {
    GError *error = NULL;
    GVariantBuilder attributes;
    g_variant_builder_init(&attributes, G_VARIANT_TYPE("a{ss}"));
    for (char **word = words + 3; word[0] && word[1]; word += 2)
        g_variant_builder_add(&attributes, "{ss}", word[0], word[1]);
    GHashTable *properties = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(
        properties, "org.freedesktop.Secret.Item" ".Label", g_variant_ref_sink(g_variant_new_string(words[1])));
    g_hash_table_insert(
        properties, "org.freedesktop.Secret.Item" ".Attributes",
        g_variant_ref_sink(g_variant_builder_end(&attributes)));
    char *path = secret_service_create_item_dbus_path_sync(
        service, below(words[0]), properties, text(words[2]), SECRET_ITEM_CREATE_NONE, NULL, &error);
    require(path != NULL, "making an item", error);
}

static void change(SecretService *service, const char *path, const char *secret) {
    GError *error = NULL;
    GVariant *reply = g_dbus_connection_call_sync(
        g_dbus_proxy_get_connection(G_DBUS_PROXY(service)), "org.freedesktop.secrets", below(path),
        "org.freedesktop.Secret.Item", "SetSecret",
        g_variant_new("(@(oayays))", secret_service_encode_dbus_secret(service, text(secret))), NULL, 0, -1, NULL,
        &error);
    require(reply != NULL, "changing a secret", error);
}

static int compare(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void dump(SecretService *service, int prints) {
    GError *error = NULL;
    require(secret_service_load_collections_sync(service, NULL, &error), "collections", error);
    GPtrArray *lines = g_ptr_array_new();
    for (GList *c = secret_service_get_collections(service); c; c = c->next) {
        SecretCollection *collection = c->data;
        if (g_str_has_suffix(g_dbus_proxy_get_object_path(c->data), "/session")) continue;
        require(secret_collection_load_items_sync(collection, NULL, &error), "items", error);
        GList *items = secret_collection_get_items(collection);
        if (!items) continue;
        require(secret_item_load_secrets_sync(items, NULL, &error), "secrets", error);
        for (GList *i = items; i; i = i->next) {
            GString *line = g_string_new(NULL);
            g_string_append_printf(
                line, "%s | %s |", secret_collection_get_label(collection),
                g_strescape(secret_item_get_label(i->data), NULL));
            GHashTable *attributes = secret_item_get_attributes(i->data);
            GList *names = g_list_sort(g_hash_table_get_keys(attributes), (GCompareFunc)strcmp);
            for (GList *n = names; n; n = n->next)
                g_string_append_printf(line, " %s=%s", (char *)n->data, (char *)g_hash_table_lookup(attributes, n->data));
            SecretValue *value = secret_item_get_secret(i->data);
            require(value != NULL, "a secret", NULL);
            gsize size;
            const char *bytes = secret_value_get(value, &size);
            g_string_append_printf(line, " | %s |", secret_value_get_content_type(value));
            for (gsize b = 0; b < size; b++) g_string_append_printf(line, "%02x", (unsigned char)bytes[b]);
            g_ptr_array_add(lines, g_string_free(line, FALSE));
        }
    }
    g_ptr_array_sort(lines, compare);
    if (!prints) printf("%u\n", lines->len);
    for (guint i = 0; prints && i < lines->len; i++) puts(lines->pdata[i]);
}

int main(int count, char **words) {
    GError *error = NULL;
    SecretService *service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
    require(service != NULL, "no service", error);
    if (count == 4 && !strcmp(words[1], "fill"))
        fill(service, atoi(words[2]), atoi(words[3]));
    else if (count == 3 && !strcmp(words[1], "make"))
        make(service, words[2]);
    else if (count >= 7 && !strcmp(words[1], "add"))
        add(service, words + 2);
    else if (count == 4 && !strcmp(words[1], "secret"))
        change(service, words[2], words[3]);
    else if (count == 2)
        dump(service, !strcmp(words[1], "dump"));
    return 0;
}
