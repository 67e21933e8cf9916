internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Makes items from the keychain in a backup, which uses Apple's own codes.
struct BackupItems {
    private let list: PropertyList
    private let keys: BackupClassKeys
    private let collector: RecordCollector

    // The protection classes whose items can be moved to another device.
    private static let accessibility: [UInt32: Accessibility] = [6: .whenUnlocked, 7: .afterFirstUnlock, 8: .always]
    // The protection classes whose keys only the device has: Apple's aku, cku, dku and akpu.
    private static let bound: Set<UInt32> = [9, 10, 11, 12]
    // Columns of the device's database that describe no item.
    private static let own: Set = ["v_Data", "v_PersistentRef", "persistref", "sha1", "UUID", "rowid", "tomb", "class"]

    // The lists of items, and the name of the keybag, which the backup has itself.
    private static let lists = Set(ItemClass.allCases.map(\.rawValue) + ["keybag-uuid"])

    init(_ list: PropertyList, _ keys: BackupClassKeys, _ collector: RecordCollector) {
        self.list = list
        self.keys = keys
        self.collector = collector
    }

    /// - Throws: `ForeignFailure`, `CryptographyFailure`.
    func add() throws {
        var hasList = false
        for itemClass in ItemClass.allCases {
            guard let member = list.member(itemClass.rawValue, of: list.root) else { continue }
            guard let items = list.values(member) else {
                throw ForeignFailure.damaged("what should be a list of items is none")
            }
            hasList = true
            for item in items { try add(item, itemClass) }
        }
        for (name, value) in list.members(list.root) where !Self.lists.contains(name) {
            collector.leaveOut("record of an unknown kind", list.values(value)?.count ?? 1)
        }
        if !hasList { throw ForeignFailure.damaged("it has no lists of items") }
    }

    private func add(_ item: Int, _ itemClass: ItemClass) throws {
        guard let blob = list.data(list.member("v_Data", of: item)) else {
            return collector.refuse(itemClass.name, .damaged("it has no data"))
        }
        let uuid = list.data(list.member("v_PersistentRef", of: item)).flatMap { reference in
            reference.count == 20 ? ItemUUID(bytes: Array(reference.suffix(16)).span) : nil
        }
        collector.leaveOut(
            unknown: list.members(item).map(\.name).filter { !["v_Data", "v_PersistentRef"].contains($0) })
        do {
            guard let opened = try open(blob) else {
                return collector.leaveOut("\(itemClass.name) that is bound to the old device")
            }
            try add(opened.list, opened.accessibility, itemClass, uuid)
        } catch ForeignFailure.damaged(let rule) {
            collector.refuse(itemClass.name, .damaged(rule))
        } catch ForeignFailure.unknownVariant(let what) {
            collector.refuse(itemClass.name, .damaged(what))
        } catch ForeignFailure.limit(let what, let found, let allowed) {
            collector.refuse(itemClass.name, .damaged("over a limit: \(what) \(found), and \(allowed) is allowed"))
        }
    }

    /// Opens the blob of an item; nil if its class needs a key of the device.
    private func open(_ blob: [UInt8]) throws -> (list: PropertyList, accessibility: Accessibility)? {
        var cursor = ByteCursor(0..<blob.count, .littleEndian)
        let version = try cursor.uint32(in: blob.span)
        let number = try cursor.uint32(in: blob.span) & 0x1f
        if Self.bound.contains(number) { return nil }
        guard let accessibility = Self.accessibility[number] else {
            throw ForeignFailure.unknownVariant("its protection class is \(number), which no item has")
        }
        guard keys.has(number) else {
            throw ForeignFailure.damaged("the backup has no key for its protection class")
        }
        guard version == 2 || version == 3 else {
            throw ForeignFailure.unknownVariant("its version is \(version), which no backup has")
        }
        let count = try cursor.count("bytes of a wrapped key", limit: 0x48, in: blob.span)
        guard count == 0x28 else { throw ForeignFailure.unknownVariant("its key is wrapped for a public key") }
        let wrapped = Array(blob[try cursor.take(count)])
        guard cursor.left >= 16, let key = try keys.unwrap(wrapped, of: number) else {
            throw ForeignFailure.damaged("it ends early")
        }
        let ciphertext = Array(blob[cursor.position..<blob.count - 16])
        let plain = try NullIVCipher.open(ciphertext, tag: Array(blob.suffix(16)), key: key)
        let list = try plain.withBytes { bytes throws(ForeignFailure) in
            try version == 3 ? PropertyList(der: bytes) : PropertyList(bytes)
        }
        return (list, accessibility)
    }

    private func add(
        _ item: PropertyList, _ accessibility: Accessibility, _ itemClass: ItemClass, _ uuid: ItemUUID?
    ) throws {
        if item.number(item.member("tomb", of: item.root)) == 1 {
            return collector.leaveOut("record of a deleted item")
        }
        var draft = ItemDraft(itemClass: itemClass, uuid: uuid)
        var fields: [(name: String, value: Int)] = []
        for (name, value) in item.members(item.root) where !Self.own.contains(name) {
            // Password histories and notes, which are secrets.
            if name.exact.hasPrefix("bin") {
                fields.append((name, value))
            } else if let code = AttributeCode(code: name), code != .accc, code.belongs(to: itemClass) {
                if item.isUnreadableDate(code, value) {
                    collector.leaveOut("unreadable date")
                } else {
                    draft.attributes[code] = try item.attribute(code, value)
                }
            } else if let text = item.text(value) ?? item.number(value).map({ String($0) }) {
                draft.extra.append(ExtraAttribute(name: "ios.\(name)", value: text))
            } else if item.secret(value) != nil {
                fields.append((name, value))
            } else {
                switch item.nodes[value] {
                case .date(let date):
                    draft.extra.append(ExtraAttribute(name: "ios.\(name)", value: date.description))
                case .null: continue
                case .real(let number): draft.extra.append(ExtraAttribute(name: "ios.\(name)", value: "\(number)"))
                default: collector.leaveOut("attribute of an unknown kind")
                }
            }
        }
        guard draft.attributes.text(.pdmn) == accessibility.rawValue else {
            throw ForeignFailure.damaged("its accessibility is not that of its key")
        }
        draft.extra.append(ExtraAttribute(name: "source.format", value: collector.format))
        let secret = item.secret(item.member("v_Data", of: item.root))
        if itemClass == .certificate { try Self.check(draft, secret) }
        let name = [.labl, .svce, .srvr, .acct].compactMap { draft.attributes.text($0) }.first { !$0.isEmpty }
        let title = name ?? itemClass.name
        let identity = Self.identity(of: draft)
        let kind = itemClass.name
        try collector.add(RecordPart(kind, draft, secret: secret, record: identity, name: title))
        for (name, value) in fields {
            guard let secret = item.secret(value), !secret.isEmpty else { continue }
            var field = ItemDraft(itemClass: .genericPassword)
            field.attributes[.svce] = .text(title)
            field.attributes[.acct] = .text(name)
            field.attributes[.labl] = .text(title)
            field.attributes[.desc] = .text("field")
            for code in [AttributeCode.agrp, .pdmn, .sync, .cdat, .mdat] {
                field.attributes[code] = draft.attributes[code]
            }
            try collector.add(RecordPart("field", field, secret: secret, record: identity, part: name, name: title))
        }
    }

    /// Checks that a certificate is the one that its attributes describe.
    private static func check(_ draft: ItemDraft, _ secret: borrowing SecretBytes?) throws(ForeignFailure) {
        let der: [UInt8]
        switch secret {
        case .none: throw .damaged("a certificate is missing")
        case .some(let secret): der = secret.withBytes { $0.array(0..<$0.count) }
        }
        let found: ItemDraft
        do {
            found = ItemDraft(certificate: try X509Certificate(der: der))
        } catch {
            throw .damaged("a certificate is malformed")
        }
        for code in [AttributeCode.issr, .slnr] where draft.attributes[code] != found.attributes[code] {
            throw .damaged("a certificate does not match its attributes")
        }
    }

    /// Identifies an item among those of its class: its UUID, or the values of its unique key.
    private static func identity(of draft: ItemDraft) -> String {
        if let uuid = draft.uuid { return uuid.description }
        let values = draft.itemClass.uniqueKey.map { code in
            switch draft.attributes[code] {
            case .text(let text): "t\(text)"
            case .data(let bytes): "d\(Hexadecimal.encode(bytes))"
            case .number(let number): "n\(number)"
            case .date(let date): "n\(date)"
            case nil: ""
            }
        }
        return ([draft.itemClass.rawValue] + values).joined(separator: "\n")
    }
}
