import KCItemSources
import KCKeychainModel
import KCSecretService
import Testing

@Suite("Mapping Secret Service items to keychain items")
struct MappingTests {
    private let login = CollectionName(label: "Login")

    private func attributes(_ pairs: KeyValuePairs<String, String>) -> [ServiceAttribute] {
        pairs.map { ServiceAttribute(name: $0.key, value: $0.value) }
    }

    private func item(_ service: ServiceItem, ordinal: Int = 0, in place: CollectionName? = nil) throws -> Item {
        try ServiceMapping.draft(of: service, in: place ?? login, isDefault: true, ordinal: ordinal)
            .completed(now: .reference, secretSize: 3)
    }

    @Test("An item is restored unchanged, whatever its attributes are called")
    func wayBack() throws {
        for pairs in [
            [("service", "x"), ("user", "")], [("kcbackup:collection", "theirs"), ("kcbackup:attribute:x", "y")],
            [("kcbackup:accessible", "aku")], [("kcbackup:accessible", "ak")], [("kcbackup:accessible", "soon")],
            [("", "nameless")], [("xdg:schema", "org.freedesktop.Secret.Generic")], [],
        ] {
            let service = ServiceItem(
                label: "\u{1b}[31m", attributes: pairs.map { ServiceAttribute(name: $0.0, value: $0.1) },
                type: "org.example.Type", contentType: "application/octet-stream")
            let item = try item(service, in: CollectionName(label: "Größe", number: 2))
            #expect(ServiceMapping.serviceItem(of: item) == service)
            #expect(ServiceMapping.place(of: item) == CollectionName(label: "Größe", number: 2))
            #expect(Set(ServiceMapping.unmappedAttributes(item)).isSubset(of: [.cdat, .mdat]))
        }
    }

    @Test("No attribute that a program gives its item becomes a mark of kcbackup's own")
    func ownMarks() throws {
        let mark = "kcbackup:attribute:kcbackup:accessible"
        for name in ["", "kcbackup:", "kcbackup:accessible", "kcbackup:collection", mark, "kcbackup:attribute:" + mark]
        {
            for value in Accessibility.allCases.map(\.rawValue) + ["soon", ""] {
                let service = ServiceItem(label: "x", attributes: [ServiceAttribute(name: name, value: value)])
                let item = try item(service)
                #expect(!item.isKeptApart && !item.extra.contains(where: KeyringExtra.isForeign), "\(name) \(value)")
                // The way back from a kept state.
                #expect(try ServiceMapping.serviceItem(of: item.keptApart()) == service)
            }
        }
    }

    @Test("The UUID and the unique key depend only on the collection and the attributes")
    func identity() throws {
        let one = ServiceItem(label: "A", attributes: attributes(["service": "x", "user": "ada"]), modified: 5)
        let same = ServiceItem(
            label: "B", attributes: attributes(["user": "ada", "service": "x", "kcbackup:accessible": "aku"]),
            modified: 9)
        #expect(try item(one).uuid == item(same).uuid)
        #expect(try item(one).hasKey(of: item(same)))
        #expect(try item(same).accessibility == .whenUnlockedThisDeviceOnly)
        let others = [
            try item(one, ordinal: 1), try item(one, in: CollectionName(label: "Other")),
            try item(one, in: CollectionName(label: "Login", number: 1)),
            try item(ServiceItem(label: "A", attributes: attributes(["service": "xuser", "": "ada"]))),
        ]
        for other in others {
            #expect(try item(one).uuid != other.uuid)
            #expect(try !item(one).hasKey(of: other))
        }
        // Items with the same attributes keep their order in an archive.
        #expect(try item(one).precedes(item(one, ordinal: 1)))
        #expect(try item(one, ordinal: 255).precedes(item(one, ordinal: 256)))
    }

    @Test("An item without attributes is identified by its label, and adding a schema does not change that")
    func nameless() throws {
        let one = ServiceItem(label: "A", attributes: [])
        #expect(try !item(one).hasKey(of: item(ServiceItem(label: "B", attributes: []))))
        #expect(try item(one).hasKey(of: item(ServiceItem(label: "A", attributes: [], modified: 9))))
        let schema = attributes(["xdg:schema": "org.freedesktop.Secret.Generic"])
        #expect(try item(one).hasKey(of: item(ServiceItem(label: "A", attributes: schema))))
    }

    @Test("A KeePassXC entry is identified by title and user name, not by UUID or group")
    func entry() throws {
        func entry(_ title: String, _ path: String, _ uuid: String, _ name: String = "") -> ServiceItem {
            ServiceItem(
                label: title,
                attributes: attributes([
                    "Title": title, "Path": path, "Uuid": uuid, "UserName": name, "URL": "", "Notes": "",
                ]))
        }
        let one = try item(entry("Bank", "/Money/Bank", "1", "ada"))
        #expect(try one.hasKey(of: item(entry("Bank", "/Bank", "2", "ada"))))
        #expect(try !one.hasKey(of: item(entry("Bank", "/Money/Bank", "1", "eve"))))
        #expect(try !one.hasKey(of: item(entry("Post", "/Money/Bank", "1", "ada"))))
        #expect(one.attributes.text(.svce) == "Bank")
        #expect(one.attributes.text(.acct) == "ada")
        // All KeePassXC attributes are preserved.
        #expect(ServiceMapping.serviceItem(of: one) == entry("Bank", "/Money/Bank", "1", "ada"))
        // The same attribute names in another program's item have no special meaning.
        let other = try item(ServiceItem(label: "A", attributes: attributes(["Path": "/a"])))
        #expect(try !other.hasKey(of: item(ServiceItem(label: "A", attributes: attributes(["Path": "/b"])))))
    }

    @Test("An item keeps its UUID when GNOME Keyring adds a schema to it on restart")
    func addedSchema() throws {
        let before = ServiceItem(label: "A", attributes: attributes(["service": "x"]))
        let after = ServiceItem(
            label: "A", attributes: attributes(["service": "x", "xdg:schema": "org.freedesktop.Secret.Generic"]))
        #expect(try item(before).uuid == item(after).uuid)
    }

    @Test(
        "Known schemas map to keychain attributes",
        arguments: [
            (
                [
                    "xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "h", "user": "u", "port": "22",
                    "protocol": "ssh",
                ], ["srvr": "h", "acct": "u", "port": "22", "ptcl": "1936943136"]
            ),
            (
                ["xdg:schema": "org.git.Password", "server": "h", "user": "u", "protocol": "https"],
                ["srvr": "h", "acct": "u", "ptcl": "1752461427"]
            ),
            (
                ["xdg:schema": "org.epiphany.FormPassword", "uri": "https://a@example.org/x?y", "username": "u"],
                ["srvr": "example.org", "acct": "u"]
            ),
            (["service": "s", "username": "u", "application": "Python"], ["svce": "s", "acct": "u"]),
            (
                [
                    "xdg:schema": "org.freedesktop.NetworkManager.Connection", "connection-uuid": "1",
                    "setting-name": "wifi", "setting-key": "psk",
                ], ["svce": "NetworkManager", "acct": "1/wifi/psk"]
            ),
            (
                ["xdg:schema": "org.gnome.Evolution.Data.Source", "e-source-uid": "7"],
                ["svce": "Evolution", "acct": "7"]
            ),
            (
                ["xdg:schema": "org.qt.keychain", "user": "ada", "server": "mail.example", "type": "plaintext"],
                ["svce": "mail.example", "acct": "ada"]
            ),
            (["unique": "ssh-store:/home/ada/.ssh/id"], ["svce": "ssh", "acct": "/home/ada/.ssh/id"]),
            (
                ["xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome"],
                ["svce": "Title", "acct": "chrome"]
            ),
            (["xdg:schema": "org.example.App", "b": "2", "a": "1"], ["svce": "org.example.App"]),
        ] as [([String: String], [String: String])])
    func names(_ given: [String: String], _ expected: [String: String]) throws {
        let item = try item(
            ServiceItem(label: "Title", attributes: given.map { ServiceAttribute(name: $0.key, value: $0.value) }))
        for (code, value) in expected {
            let code = try #require(AttributeCode(code: code))
            #expect(item.attributes.text(code) ?? item.attributes.number(code).map { String($0) } == value)
        }
    }

    @Test(
        "Attributes that name no user do not become an account",
        arguments: [
            [("application", "chrome")],
            [("service", "bank"), ("source.format", "csv"), ("source.part", "password")],
            [("xdg:schema", "org.example.App"), ("a", "1")], [],
        ] as [[(String, String)]])
    func noAccount(_ given: [(String, String)]) throws {
        let service = ServiceItem(
            label: "Title", attributes: given.map { ServiceAttribute(name: $0.0, value: $0.1) })
        #expect(try item(service).attributes[.acct] == nil)
    }

    @Test(
        "What an import wrote of the kind of an item comes back",
        arguments: [
            ("note", "secure note"), ("totp", "one-time password"), ("passkey example.org", "passkey"),
            ("wifi Home", "AirPort network password"), ("password", nil), ("field totp", nil),
        ] as [(String, String?)])
    func importedKind(part: String, description: String?) throws {
        let marks = [("service", "x"), ("source.format", "csv"), ("source.part", part)]
        let service = ServiceItem(
            label: "Title", attributes: marks.map { ServiceAttribute(name: $0.0, value: $0.1) })
        let item = try item(service)
        #expect(item.attributes.text(.desc) == description)
        #expect((item.attributes.number(.type) != nil) == (part == "note"))
        #expect(ServiceMapping.serviceItem(of: item) == service)
        let own = ServiceItem(label: "Title", attributes: [ServiceAttribute(name: "source.part", value: part)])
        #expect(try self.item(own).attributes[.desc] == nil)
    }

    @Test("An empty account is not reported as lost")
    func emptyAccount() throws {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text("bank")
        draft.attributes[.acct] = .text("")
        let item = try draft.completed(now: .reference, secretSize: 1)
        #expect(!ServiceMapping.unmappedAttributes(item).contains(.acct))
    }

    @Test(
        "Protocols of network passwords have the names that desktop programs search for",
        arguments: ["smb", "pop3", "nntp"])
    func protocols(_ name: String) throws {
        let network = attributes(["xdg:schema": "org.gnome.keyring.NetworkPassword", "server": "h", "protocol": name])
        let item = try item(ServiceItem(label: "A", attributes: network))
        let code = try #require(item.attributes.number(.ptcl))
        var draft = ItemDraft(itemClass: .internetPassword)
        draft.attributes[.ptcl] = .number(code)
        let elsewhere = try draft.completed(now: .reference, secretSize: 1)
        #expect(ServiceMapping.serviceItem(of: elsewhere)?["protocol"] == name)
    }

    @Test("Attributes whose names are two Unicode forms of one word are two attributes")
    func unicodeForms() throws {
        let service = ServiceItem(
            label: "A",
            attributes: [("caf\u{e9}", "1"), ("cafe\u{301}", "2")].map { ServiceAttribute(name: $0.0, value: $0.1) })
        let item = try item(service)
        #expect(ServiceMapping.serviceItem(of: item) == service)
        #expect(ServiceMapping.unmappedExtra(item).isEmpty)
        #expect(service["cafe\u{301}"] == "2")
        #expect(CollectionName(label: "caf\u{e9}") != CollectionName(label: "cafe\u{301}"))
        #expect(ServiceMapping.filter(collection: "Login").matches(item))
        #expect(!ServiceMapping.filter(collection: "Other").matches(item))
    }

    @Test("What D-Bus or the service cannot hold is reported, never shortened or mistaken for something else")
    func unspeakable() throws {
        func item(_ extra: KeyValuePairs<String, String>) throws -> Item {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text("s")
            draft.extra = extra.map { ExtraAttribute(name: $0.key, value: $0.value) }
            return try draft.completed(now: .reference, secretSize: 1)
        }
        let foreign = try item(["token": "x\0y", "keep": "1", "service": "other", "gkr:compat:hashed:a": "1"])
        #expect(ServiceMapping.unmappedExtra(foreign) == ["gkr:compat:hashed:a", "service", "token"])
        #expect(ServiceMapping.serviceItem(of: foreign)?["token"] == nil)
        #expect(ServiceMapping.serviceItem(of: foreign)?["service"] == "s")
        #expect(ServiceMapping.serviceItem(of: foreign)?["keep"] == "1")
        // A collection of another name would be made.
        let misplaced = try item(["kcbackup:collection": "ev\0il"])
        #expect(ServiceMapping.place(of: misplaced) == nil)
        #expect(ServiceMapping.unmappedExtra(misplaced) == ["kcbackup:collection"])
        let ours = try item([
            "kcbackup:attribute:dup": "2", "kcbackup:attribute:nul": "a\0b", "kcbackup:collection": "Login",
            "kcbackup:collection-number": "-7", "kcbackup:content-type": "te\0xt", "kcbackup:type": "ty\0pe",
            "dup": "1",
        ])
        #expect(ServiceMapping.place(of: ours) == CollectionName(label: "Login"))
        #expect(ServiceMapping.serviceItem(of: ours)?.type == nil)
        #expect(ServiceMapping.serviceItem(of: ours)?.contentType == "text/plain")
        #expect(
            Set(ServiceMapping.unmappedExtra(ours)).isSuperset(of: [
                "kcbackup:attribute:nul", "kcbackup:collection-number", "kcbackup:content-type", "kcbackup:type",
            ]))
        #expect(ServiceMapping.unmappedExtra(ours).count == 5)
    }

    @Test("A keychain item gets the attributes that programs search for")
    func fromKeychain() throws {
        var draft = ItemDraft(itemClass: .internetPassword)
        draft.attributes[.srvr] = .text("example.org")
        draft.attributes[.acct] = .text("a\u{0}b")
        draft.attributes[.ptcl] = .number(1_752_461_427)
        draft.attributes[.icmt] = .text("mine")
        draft.extra = [ExtraAttribute(name: "folder", value: "work")]
        let item = try draft.completed(now: .reference, secretSize: 1)
        let service = try #require(ServiceMapping.serviceItem(of: item))
        #expect(
            service.attributes
                == attributes([
                    "folder": "work", "protocol": "https", "server": "example.org", "user:base64": "YQBi",
                    "xdg:schema": "org.gnome.keyring.NetworkPassword",
                ]))
        #expect(ServiceMapping.unmappedAttributes(item) == [.acct, .cdat, .icmt, .mdat])
    }
}
