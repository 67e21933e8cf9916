@testable import KeychainSecurity

/// The status that the model returns instead of a result.
struct ModelRefusal: Error {
    let status: OSStatus

    init(_ status: OSStatus) { self.status = status }
}

/// The dictionary of a call, interpreted as the reference documentation describes.
struct ModelRequest {
    /// Nil if only a persistent reference specifies it.
    var itemClass: String?
    /// As stored, with accessibility under `pdmn`; `sync` and `tomb` are separate properties.
    var attributes: [String: PlainValue] = [:]
    /// Nil if unspecified or "any".
    var isSynchronizable: Bool?
    var meansAnySynchronizability = false
    var returns: Set<String> = []
    /// Nil for no limit.
    var limit: Int? = 1
    /// Whether a result is a list.
    var isList = false
    var secret: [UInt8]?
    var reference: PlainReference?
    var meansTombstones = false
    var leavesTombstones: Bool?
    var skipsLocked = false

    /// Reads the dictionary of a call.
    init(_ dictionary: [String: PlainValue], of kind: PlainCall.Kind) throws(ModelRefusal) {
        if dictionary.count > 128 { throw ModelRefusal(errSecParam) }
        switch dictionary[kSecClass as String] {
        case .text(let text):
            guard ModelSchema.classes.contains(text) else { throw ModelRefusal(errSecNoSuchClass) }
            itemClass = text
        case nil: if dictionary[kSecValuePersistentRef as String] == nil { throw ModelRefusal(errSecParam) }
        default: throw ModelRefusal(errSecParam)
        }
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where key != kSecClass as String {
            try read(key, value, for: kind)
        }
        // A reference already identifies its item. Only the class may be given in addition.
        if let reference {
            let saysMore = !attributes.isEmpty || isSynchronizable != nil
            if kind == .add || saysMore || itemClass ?? reference.itemClass != reference.itemClass {
                throw ModelRefusal(errSecParam)
            }
        }
    }

    /// Reads the changes of an update.
    init(changes: [String: PlainValue], in itemClass: String?) throws(ModelRefusal) {
        self.itemClass = itemClass
        for (key, value) in changes.sorted(by: { $0.key < $1.key }) {
            switch key {
            case kSecAttrSharingGroup, kSecClass: throw ModelRefusal(errSecParam)
            case kSecValueData: secret = try Self.bytes(value)
            case kSecAttrSynchronizable:
                if case .text(let text) = value {
                    guard let number = ModelSchema.number(spelledBy: text) else { throw ModelRefusal(errSecParam) }
                    isSynchronizable = number != 0
                } else {
                    isSynchronizable = try Self.truth(value)
                }
            default: try readAttribute(key, value)
            }
        }
    }

    private mutating func read(_ key: String, _ value: PlainValue, for kind: PlainCall.Kind) throws(ModelRefusal) {
        switch key {
        case kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef:
            if kind == .update { throw ModelRefusal(errSecParam) }
            if try Self.truth(value) { returns.insert(key) }
        case kSecMatchLimit:
            switch kind {
            case .add, .update: throw ModelRefusal(errSecParam)
            case .delete:
                guard case .text(kSecMatchLimitAll) = value else { throw ModelRefusal(errSecParam) }
            case .copy: try readLimit(value)
            }
        case kSecMatchCaseInsensitive where kind != .copy: throw ModelRefusal(errSecParam)
        case kSecUseItemList where kind == .add: throw ModelRefusal(errSecParam)
        case kSecMatchPolicy, kSecMatchTrustedOnly, kSecMatchSearchList, kSecUseItemList, kSecUseSystemKeychain:
            throw ModelRefusal(errSecUnimplemented)
        // No object and no context is among the values of the model.
        case kSecMatchItemList, kSecUseAuthenticationContext: throw ModelRefusal(errSecParam)
        case kSecUseOperationPrompt, kSecUseDataProtectionKeychain: break
        case kSecUseAuthenticationUI:
            switch value {
            case .text(kSecUseAuthenticationUISkip): skipsLocked = true
            case .text(kSecUseAuthenticationUIFail), .text(kSecUseAuthenticationUIAllow): break
            default: throw ModelRefusal(errSecParam)
            }
        case kSecUseTombstones:
            guard kind == .delete else { throw ModelRefusal(errSecParam) }
            leavesTombstones = try Self.truth(value)
        case kSecAttrTombstone: meansTombstones = try Self.truth(value)
        case kSecValueData: secret = try Self.bytes(value)
        case kSecValuePersistentRef:
            guard case .reference(let given) = value, given != .malformed else { throw ModelRefusal(errSecParam) }
            reference = given
        case kSecAttrSynchronizable:
            if case .text(kSecAttrSynchronizableAny) = value {
                meansAnySynchronizability = true
            } else if case .text(let text) = value {
                guard let number = ModelSchema.number(spelledBy: text) else { throw ModelRefusal(errSecParam) }
                isSynchronizable = number != 0
            } else {
                isSynchronizable = try Self.truth(value)
            }
        default: try readAttribute(key, value)
        }
    }

    private mutating func readLimit(_ value: PlainValue) throws(ModelRefusal) {
        switch value {
        case .text(kSecMatchLimitOne): break
        case .text(kSecMatchLimitAll): (limit, isList) = (nil, true)
        case .number(let count), .boxed(let count):
            guard count >= 0 else { throw ModelRefusal(errSecParam) }
            (limit, isList) = (Int(count), count != 1)
        default: throw ModelRefusal(errSecParam)
        }
    }

    private mutating func readAttribute(_ key: String, _ value: PlainValue) throws(ModelRefusal) {
        guard let itemClass else {
            // With a reference, any attribute is an error, but the status differs for unknown ones.
            let isKnown = ModelSchema.classes.contains { ModelSchema.kind(of: key, in: $0) != nil }
            let isOther = isKnown || key == "pdmn" || key == "accc" || key.count != 4
            throw ModelRefusal(isOther ? errSecParam : errSecNoSuchAttr)
        }
        if key == kSecAttrAccessible as String || key == kSecAttrAccessControl as String {
            let protection: String
            switch (key, value) {
            case (kSecAttrAccessible, .text(let text)): protection = text
            case (kSecAttrAccessible, .data(let bytes)): protection = String(decoding: bytes, as: UTF8.self)
            case (kSecAttrAccessControl, .control(let text)): protection = text
            default: throw ModelRefusal(errSecParam)
            }
            guard ReferenceModel.protections.contains(protection) else { throw ModelRefusal(errSecParam) }
            if case .text(let other) = attributes["pdmn"], other != protection { throw ModelRefusal(errSecParam) }
            attributes["pdmn"] = .text(protection)
            return
        }
        guard let kind = ModelSchema.kind(of: key, in: itemClass) else {
            throw ModelRefusal(key.count == 4 ? errSecNoSuchAttr : errSecParam)
        }
        guard let stored = ModelSchema.stored(value, as: kind) else { throw ModelRefusal(errSecParam) }
        attributes[key] = stored
    }

    private static func truth(_ value: PlainValue) throws(ModelRefusal) -> Bool {
        switch value {
        case .truth(let truth): return truth
        case .number(let number), .boxed(let number): return number != 0
        default: throw ModelRefusal(errSecParam)
        }
    }

    private static func bytes(_ value: PlainValue) throws(ModelRefusal) -> [UInt8] {
        guard case .data(let bytes) = value else { throw ModelRefusal(errSecParam) }
        return bytes
    }
}
