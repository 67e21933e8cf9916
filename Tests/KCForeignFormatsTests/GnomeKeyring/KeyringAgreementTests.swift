import KCItemSources
import KCKeychainModel
import KCSecretService
import Testing

@testable import KCForeignFormats

@Suite("A keyring's file and the running keyring give the same items")
struct KeyringAgreementTests {
    private static let schemas: [KeyValuePairs<String, String>] = [
        [
            "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "h", "user": "u", "port": "22",
            "protocol": "ssh",
        ],
        ["xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "h", "domain": "WORK", "protocol": "SMB"],
        ["xdg:schema": "org.git.Password", "server": "h", "user": "u", "protocol": "https"],
        ["xdg:schema": "org.epiphany.FormPassword", "uri": "https://a@example.org/x?y", "username": "u"],
        ["xdg:schema": "org.freedesktop.NetworkManager.Connection", "connection-uuid": "1", "setting-name": "wifi"],
        ["xdg:schema": "org.gnome.Evolution.Data.Source", "e-source-uid": "7"],
        ["xdg:schema": "org.gnome.OnlineAccounts", "goa-identity": "g"],
        ["xdg:schema": "org.qt.keychain", "user": "ada", "server": "mail.example", "type": "plaintext"],
        ["xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome"],
        ["xdg:schema": "org.gnome.keyring.Note"], ["xdg:schema": "org.freedesktop.Secret.Generic", "a": "1"],
        ["xdg:schema": "org.example.App", "b": "2", "a": "1"], ["unique": "ssh-store:/home/ada/.ssh/id"],
        ["service": "s", "username": "u", "kcbackup:accessible": "aku"], ["kcbackup:collection": "theirs"],
        ["Title": "T", "Path": "/T", "Uuid": "1", "UserName": "u"], [:],
    ]

    @Test("Class, attributes, unique key and UUID are the same for every schema", arguments: schemas.indices)
    func same(_ index: Int) throws {
        let attributes = Self.schemas[index].map { (name: $0.key, value: $0.value) }
        let item = KeyringItem(label: .text("Title"), attributes: attributes, created: 5, modified: 6)
        let file = try KeyringMapping.draft(of: item, keyring: KeyringName(label: "Login", number: 0), ordinal: 1)
            .completed(now: .reference, secretSize: 3)
        let service = ServiceItem(
            label: "Title", attributes: attributes.map { ServiceAttribute(name: $0.name, value: $0.value) }, created: 5,
            modified: 6)
        let running = try ServiceMapping.draft(
            of: service, in: CollectionName(label: "Login"), isDefault: true, ordinal: 1
        ).completed(now: .reference, secretSize: 3)
        #expect(KeyringExtra.comparable(file) == KeyringExtra.comparable(running))
        #expect(file.attributes == running.attributes)
    }

    @Test("The type in a file is the schema of the running item", arguments: [0, 1, 2, 3, 4, 0x100])
    func types(_ type: UInt32) throws {
        let item = KeyringItem(label: .text("Title"), attributes: [("server", "h")], type: type)
        let file = try KeyringMapping.draft(of: item, keyring: KeyringName(label: "Login", number: 0), ordinal: 0)
            .completed(now: .reference, secretSize: 3)
        let schema = try #require(file.extraValue("kcbackup:type"))
        for (attributes, kept) in [([("xdg:schema", schema)], nil), ([], schema)] {
            let service = ServiceItem(
                label: "Title",
                attributes: ([("server", "h")] + attributes).map { ServiceAttribute(name: $0.0, value: $0.1) },
                type: kept)
            let running = try ServiceMapping.draft(
                of: service, in: CollectionName(label: "Login"), isDefault: false, ordinal: 0
            ).completed(now: .reference, secretSize: 3)
            #expect(KeyringExtra.comparable(file) == KeyringExtra.comparable(running))
        }
    }
}
