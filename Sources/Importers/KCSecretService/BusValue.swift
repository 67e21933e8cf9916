internal import CKCLibSecret

/// A D-Bus value, with a reference that this object owns.
@safe final class BusValue {
    /// The type that a value must have, as a D-Bus type string.
    struct Kind {
        let text: StaticString

        init(_ text: StaticString) { self.text = text }

        fileprivate var raw: OpaquePointer { unsafe OpaquePointer(text.utf8Start) }

        /// Calls `body` with the type as a C pointer.
        func withType<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(raw) }
    }

    private let value: OpaquePointer
    private static var g: csecret_functions { unsafe LibSecret.functions.pointee }

    /// Takes ownership of a value; a floating reference is sunk.
    init(_ value: OpaquePointer?) {
        unsafe self.value = unsafe Self.made(unsafe Self.g.g_variant_ref_sink(value))
    }

    /// Takes ownership of the caller's reference.
    init(owned value: OpaquePointer?) {
        unsafe self.value = unsafe Self.made(value)
    }

    private static func made(_ value: OpaquePointer?) -> OpaquePointer {
        if let value = unsafe value { return unsafe value }
        preconditionFailure("GLib makes a value, or ends the process")
    }

    deinit { unsafe Self.g.g_variant_unref(value) }

    /// Calls `body` with the value as a C pointer, which this object still owns.
    func withRaw<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try unsafe body(value)
    }
}

extension BusValue {
    /// A string, which must not contain a NUL: D-Bus has none, and the text after it would be lost.
    static func text(_ text: String) -> BusValue { unsafe BusValue(unsafe g.g_variant_new_string(text)) }

    /// An object path, which must be valid.
    static func path(_ path: String) -> BusValue {
        precondition(unsafe g.g_variant_is_object_path(path) != 0, "an object path comes from the bus")
        return unsafe BusValue(unsafe g.g_variant_new_object_path(path))
    }

    static func flag(_ flag: Bool) -> BusValue { unsafe BusValue(unsafe g.g_variant_new_boolean(flag ? 1 : 0)) }

    static func number(_ number: UInt32) -> BusValue { unsafe BusValue(unsafe g.g_variant_new_uint32(number)) }

    /// A variant that holds a value of any type.
    static func boxed(_ value: BusValue) -> BusValue {
        unsafe BusValue(value.withRaw { unsafe g.g_variant_new_variant($0) })
    }

    static func tuple(_ members: [BusValue]) -> BusValue {
        unsafe members.withRaw { pointer, count in unsafe BusValue(unsafe g.g_variant_new_tuple(pointer, count)) }
    }

    static func entry(_ key: BusValue, _ value: BusValue) -> BusValue {
        unsafe BusValue(
            key.withRaw { key in unsafe value.withRaw { value in unsafe g.g_variant_new_dict_entry(key, value) } })
    }

    static func array(_ kind: Kind, _ members: [BusValue]) -> BusValue {
        unsafe members.withRaw { pointer, count in
            unsafe BusValue(unsafe g.g_variant_new_array(unsafe kind.raw, pointer, count))
        }
    }

    /// A value of type `a{sv}`.
    static func properties(_ members: [(String, BusValue)]) -> BusValue {
        array(Kind("{sv}"), members.map { .entry(.text($0.0), .boxed($0.1)) })
    }

    /// A value of type `a{ss}`.
    static func texts(_ members: [ServiceAttribute]) -> BusValue {
        array(Kind("{ss}"), members.map { .entry(.text($0.name), .text($0.value)) })
    }
}

extension BusValue {
    /// True if it is of this type.
    func `is`(_ kind: Kind) -> Bool { unsafe Self.g.g_variant_is_of_type(value, kind.raw) != 0 }

    /// A member of a reply, which the service can have left out, or given another type.
    ///
    /// - Parameter read: reads the value; nil if it has another type.
    func member<Value>(
        _ index: Int, _ read: (BusValue) -> Value?, _ request: SecretServiceFailure.Request
    ) throws(SecretServiceFailure) -> Value {
        let isContainer = self.is(Kind("r")) || self.is(Kind("a*"))
        guard isContainer, index < count, let value = read(self[index]) else { throw .malformed(request) }
        return value
    }

    /// A member of a value whose type was checked.
    private subscript(index: Int) -> BusValue {
        unsafe BusValue(owned: unsafe Self.g.g_variant_get_child_value(value, index))
    }

    /// The number of members of a tuple, an array or an entry.
    private var count: Int { Int(unsafe Self.g.g_variant_n_children(value)) }

    private var members: [BusValue] { (0..<count).map { self[$0] } }

    /// The text of a string.
    var text: String? { self.is(Kind("s")) ? string : nil }

    /// An object path, which is valid: GLib checks what it receives.
    var path: String? { self.is(Kind("o")) ? string : nil }

    private var string: String? {
        var length = 0
        guard let start = unsafe Self.g.g_variant_get_string(value, &length) else { return nil }
        // D-Bus guarantees UTF-8.
        return unsafe String(cString: start)
    }

    var flag: Bool? { self.is(Kind("b")) ? unsafe Self.g.g_variant_get_boolean(value) != 0 : nil }

    var number: UInt64? {
        if self.is(Kind("t")) { return UInt64(unsafe Self.g.g_variant_get_uint64(value)) }
        return self.is(Kind("u")) ? UInt64(unsafe Self.g.g_variant_get_uint32(value)) : nil
    }

    /// The value in a variant.
    var unboxed: BusValue? {
        unsafe self.is(Kind("v")) ? BusValue(owned: unsafe Self.g.g_variant_get_variant(value)) : nil
    }

    /// The object paths of an array.
    var paths: [String]? { self.is(Kind("ao")) ? members.compactMap(\.path) : nil }

    /// The members of `a{sv}`.
    var properties: [String: BusValue]? {
        guard self.is(Kind("a{sv}")) else { return nil }
        var properties: [String: BusValue] = [:]
        for entry in members {
            guard let name = entry[0].text, let value = entry[1].unboxed else { return nil }
            properties[name] = value
        }
        return properties
    }

    /// A secret in the form in which it is sent.
    var secret: BusValue? { self.is(Kind("(oayays)")) ? self : nil }

    /// The secrets in `a{o(oayays)}`, by the paths of their items.
    var secrets: [String: BusValue]? {
        guard self.is(Kind("a{o(oayays)}")) else { return nil }
        var secrets: [String: BusValue] = [:]
        for entry in members {
            guard let path = entry[0].path else { return nil }
            secrets[path] = entry[1]
        }
        return secrets
    }

    /// The members of `a{ss}`, ordered by the bytes of their names.
    var attributes: [ServiceAttribute]? {
        guard self.is(Kind("a{ss}")) else { return nil }
        var attributes: [ServiceAttribute] = []
        for entry in members {
            guard let name = entry[0].text, let value = entry[1].text else { return nil }
            attributes.append(ServiceAttribute(name: name, value: value))
        }
        return attributes.sorted()
    }
}

extension [String: BusValue] {
    /// A property; nil if the service does not have it.
    ///
    /// - Throws: `malformed` (`request`) if it has another type.
    func value<Content>(
        _ name: String, _ read: (BusValue) -> Content?, _ request: SecretServiceFailure.Request
    ) throws(SecretServiceFailure) -> Content? {
        guard let given = self[name] else { return nil }
        guard let value = read(given) else { throw .malformed(request) }
        return value
    }
}

extension [BusValue] {
    /// Calls `body` with a C array of the values, which this array still owns.
    fileprivate func withRaw<Result>(_ body: (UnsafePointer<OpaquePointer?>?, Int) -> Result) -> Result {
        let raw: [OpaquePointer?] = unsafe map { unsafe $0.withRaw { unsafe $0 } }
        return withExtendedLifetime(self) {
            unsafe raw.withUnsafeBufferPointer { unsafe body($0.baseAddress, count) }
        }
    }
}
