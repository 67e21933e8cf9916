internal import Foundation
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

/// The parsed dictionary of a call: every key is known, and every value has the right type.
struct ItemRequest {
    /// The kind of object that a call is about.
    enum Subject: Hashable {
        case items(ItemClass)
        /// Certificates joined with their private keys.
        case identities
    }

    /// The call that the dictionary is for; each call allows different keys.
    enum Call {
        case add
        case copy
        case update
        case delete
    }

    /// The maximum number of items.
    enum Limit: Hashable {
        /// `kSecMatchLimitOne` or the number 1; the result is a single value.
        case one
        /// 0, or a number above 1.
        case number(Int)
        case all
    }

    /// The requested results.
    struct Returns: OptionSet {
        let rawValue: Int
        static let data = Returns(rawValue: 1)
        static let attributes = Returns(rawValue: 2)
        static let reference = Returns(rawValue: 4)
        static let persistentReference = Returns(rawValue: 8)
    }

    /// Nil only if a persistent reference determines it.
    var subject: Subject?
    /// Attributes by code, except `sync`; for an identity, those of its certificate and of its key.
    var attributes: [AttributeCode: AttributeValue] = [:]
    /// Nil if not given.
    var synchronizable: ItemQuery.Synchronizable?
    var returns: Returns = []
    var limit: Limit?
    var filters = ItemFilters()
    var data: Data?
    /// Nil if not given; otherwise `attributes` has its constraint, if it has one.
    var accessControl: SecAccessControl?
    var object: ReferencedObject?
    var persistentReference: PersistentReference?
    /// True to select tombstones.
    var meansTombstones = false
    /// Whether a deletion leaves a tombstone; nil to decide by `sync`.
    var leavesTombstones: Bool?
    /// True to skip locked items instead of failing.
    var skipsLocked = false
    /// Who is asked for the passcode if an item is locked.
    var route = PasscodeRoute()

    /// Larger dictionaries are refused, as in Apple's keychain.
    static let keyLimit = 128
}

extension ItemRequest {
    /// Parses the dictionary of `call`.
    ///
    /// - Throws: `CallFailure`: `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr`, `errSecUnimplemented`.
    init(_ dictionary: CallDictionary, for call: Call) throws(CallFailure) {
        guard dictionary.count <= Self.keyLimit else { throw CallFailure(errSecParam) }
        try readSubject(dictionary)
        var accessibility: Set<ExactText> = []
        // Sorted by key, so that a dictionary with two mistakes always reports the same one.
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where key != kSecClass as String {
            switch key {
            case kSecAttrAccessible:
                guard let code = AttributeCode.text(value), Accessibility(rawValue: code) != nil else {
                    throw CallFailure(errSecParam)
                }
                accessibility.insert(code.exact)
            case kSecAttrAccessControl:
                guard let control = value as? SecAccessControl else { throw CallFailure(errSecParam) }
                accessibility.insert(control.protection.exact)
                accessControl = control
                attributes[.accc] = control.constraint.map { .text($0.rawValue) }
            case kSecAttrSynchronizable: synchronizable = try Self.synchronizable(value)
            case kSecAttrTombstone: meansTombstones = try Self.flag(value)
            case kSecValueData:
                guard let given = value as? Data else { throw CallFailure(errSecParam) }
                data = given
            case kSecValueRef: break
            case kSecValuePersistentRef:
                guard call != .add, let given = value as? Data else { throw CallFailure(errSecParam) }
                persistentReference = try PersistentReference(given)
            default: try read(key, value, for: call)
            }
        }
        // Both forms may be given if they agree: a dictionary of returned attributes contains both.
        guard accessibility.count <= 1 else { throw CallFailure(errSecParam) }
        if let code = accessibility.first { attributes[.pdmn] = .text(code.string) }
        try check(call)
    }

    /// Parses the dictionary of new values for an update.
    ///
    /// - Throws: `CallFailure`: `errSecParam`, `errSecNoSuchAttr`.
    static func changes(
        _ dictionary: CallDictionary, of itemClass: ItemClass
    ) throws(CallFailure) -> ItemRequest {
        guard dictionary[kSecClass] == nil else { throw CallFailure(errSecParam) }
        var complete = dictionary
        complete[kSecClass] = itemClass.rawValue
        let request = try ItemRequest(complete, for: .add)
        let fixed: [AttributeCode] = [.musr, .ggrp]
        guard request.returns.isEmpty, request.object == nil, request.leavesTombstones == nil,
            fixed.allSatisfy({ request.attributes[$0] == nil })
        else { throw CallFailure(errSecParam) }
        return request
    }

    private mutating func read(_ key: String, _ value: Any, for call: Call) throws(CallFailure) {
        if key.exact.hasPrefix("r_") { return try readReturn(key, value) }
        if key.exact.hasPrefix("m_") {
            // A limit selects items; apart from reading, only deleting supports it.
            let isLimit = key == kSecMatchLimit as String
            guard call == .copy || call == .delete && isLimit else { throw CallFailure(errSecParam) }
            if isLimit {
                limit = try Self.limit(value)
            } else {
                try filters.read(key, value)
            }
            return
        }
        if key.exact.hasPrefix("u_") || key == kSecUseDataProtectionKeychain as String {
            return try readUse(key, value, for: call)
        }
        try readAttribute(key, value)
    }

    private mutating func readReturn(_ key: String, _ value: Any) throws(CallFailure) {
        let kind: Returns
        switch key {
        case kSecReturnData: kind = .data
        case kSecReturnAttributes: kind = .attributes
        case kSecReturnRef: kind = .reference
        case kSecReturnPersistentRef: kind = .persistentReference
        default: throw CallFailure(errSecParam)
        }
        if try Self.flag(value) { returns.insert(kind) }
    }

    private mutating func readUse(_ key: String, _ value: Any, for call: Call) throws(CallFailure) {
        switch key {
        case kSecUseDataProtectionKeychain: _ = try Self.flag(value)
        case kSecUseNoAuthenticationUI: if try Self.flag(value) { route.mayAsk = false }
        case kSecUseOperationPrompt:
            guard value is String else { throw CallFailure(errSecParam) }
        case kSecUseAuthenticationUI:
            guard let choice = value as? String else { throw CallFailure(errSecParam) }
            switch choice {
            case kSecUseAuthenticationUIAllow: break
            case kSecUseAuthenticationUIFail: route.mayAsk = false
            case kSecUseAuthenticationUISkip: (skipsLocked, route.skipsLocked) = (true, true)
            default: throw CallFailure(errSecParam)
            }
        case kSecUseAuthenticationContext:
            guard let context = value as? any AuthenticationContext else { throw CallFailure(errSecParam) }
            route.context = context
        case kSecUseTombstones: leavesTombstones = try Self.flag(value)
        case kSecUseSystemKeychain where try !Self.flag(value): break
        case kSecUseUserIndependentKeychain where try !Self.flag(value): break
        // A list of items selects items, which makes no sense when adding.
        case kSecUseItemList where call == .add: throw CallFailure(errSecParam)
        case kSecUseItemList, kSecUseSystemKeychain, kSecUseUserIndependentKeychain, kSecUseKeychain:
            throw CallFailure(errSecUnimplemented)
        default: throw CallFailure(errSecParam)
        }
    }

    private mutating func readAttribute(_ key: String, _ value: Any) throws(CallFailure) {
        // Attribute codes have four characters; any other key is not an attribute.
        guard let code = AttributeCode(code: key) else {
            throw CallFailure(key.utf16.count == 4 ? errSecNoSuchAttr : errSecParam)
        }
        // Apple's keychain does not let callers set this attribute.
        guard code != .clip else { throw CallFailure(errSecParam) }
        switch subject {
        case .items(let itemClass):
            guard code.belongs(to: itemClass) else { throw CallFailure(errSecNoSuchAttr) }
            attributes[code] = try code.value(of: value, in: itemClass)
        case .identities:
            // An attribute that both classes have, such as the label, refers to the certificate.
            guard let owner = [ItemClass.certificate, .key].first(where: code.belongs) else {
                throw CallFailure(errSecNoSuchAttr)
            }
            attributes[code] = try code.value(of: value, in: owner)
        case nil:
            // Without a class, nothing else can be interpreted; report this before mistakes in attributes.
            throw CallFailure(errSecParam)
        }
    }

    private func check(_ call: Call) throws(CallFailure) {
        if subject == nil, persistentReference == nil { throw CallFailure(errSecParam) }
        // As Apple's client does.
        if call == .add, attributes[.accc] != nil, synchronizable == .yes || subject == .items(.certificate) {
            throw CallFailure(errSecParam)
        }
        // A secret in a query is ignored, as on Apple's systems, where programs delete and then add with the same
        // dictionary.
        let isFit =
            switch call {
            case .add: !meansTombstones && !skipsLocked
            case .copy: true
            case .update: returns.isEmpty
            case .delete: limit == nil || limit == .all
            }
        guard isFit, call == .delete || leavesTombstones == nil else { throw CallFailure(errSecParam) }
        // A persistent reference identifies one item.
        if let reference = persistentReference {
            // `kSecAttrSynchronizableAny` is not a condition.
            let isBare = attributes.isEmpty && synchronizable ?? .any == .any
            guard isBare, object == nil, filters.isEmpty, subject ?? reference.subject == reference.subject else {
                throw CallFailure(errSecParam)
            }
        }
    }
}

extension ItemRequest {
    private mutating func readSubject(_ dictionary: CallDictionary) throws(CallFailure) {
        if let given = dictionary[kSecValueRef] {
            let reference = try ReferencedObject(given)
            object = reference
            subject = reference.subject
        }
        guard let given = dictionary[kSecClass] else { return }
        let named = try Self.subject(given)
        guard object == nil || named == subject else { throw CallFailure(errSecParam) }
        subject = named
    }

    private static func subject(_ given: Any) throws(CallFailure) -> Subject {
        guard let code = given as? String else { throw CallFailure(errSecParam) }
        if code == kSecClassIdentity as String { return .identities }
        guard let itemClass = ItemClass(rawValue: code) else { throw CallFailure(errSecNoSuchClass) }
        return .items(itemClass)
    }

    /// Parses a Boolean; numbers are accepted too, strings are not.
    static func flag(_ given: Any) throws(CallFailure) -> Bool {
        guard let number = given as? NSNumber, !number.doubleValue.isNaN else { throw CallFailure(errSecParam) }
        return number.boolValue
    }

    private static func synchronizable(_ given: Any) throws(CallFailure) -> ItemQuery.Synchronizable {
        if let text = given as? String {
            if text == kSecAttrSynchronizableAny as String { return .any }
            guard let number = AttributeCode.number(spelledBy: text) else { throw CallFailure(errSecParam) }
            return number == 0 ? .no : .yes
        }
        return try flag(given) ? .yes : .no
    }

    private static func limit(_ given: Any) throws(CallFailure) -> Limit {
        if let text = given as? String {
            switch text {
            case kSecMatchLimitOne: return .one
            case kSecMatchLimitAll: return .all
            default: throw CallFailure(errSecParam)
            }
        }
        guard let number = given as? NSNumber, let count = Int(exactly: number), count >= 0 else {
            throw CallFailure(errSecParam)
        }
        return count == 1 ? .one : .number(count)
    }
}
