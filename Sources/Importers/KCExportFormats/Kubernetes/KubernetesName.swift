internal import KCByteStreams

/// The rules for the names of Kubernetes.
package enum KubernetesName {
    /// The maximum size of the name of an object, and of a key of its data, in bytes.
    static let sizeLimit = 253

    /// True for the name of an object: a subdomain in lower case (RFC 1123).
    static func isObject(_ text: String) -> Bool {
        let parts = text.exact.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= sizeLimit && parts.allSatisfy { isLabel($0, limit: sizeLimit) }
    }

    /// True for the name of a namespace: a label in lower case (RFC 1123).
    static func isNamespace(_ text: String) -> Bool { isLabel(text, limit: 63) }

    /// True for a key of the data of a Secret.
    package static func isKey(_ text: String) -> Bool {
        (1...sizeLimit).contains(text.utf8.count) && text.exact.isASCIILettersAndDigits(or: "-._")
            && text.exact != "." && !text.exact.hasPrefix("..")
    }

    private static func isLabel(_ text: String, limit: Int) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...limit).contains(text.utf8.count) && text.utf8.first != hyphen && text.utf8.last != hyphen
            && text.utf8.allSatisfy { $0 == hyphen || isPlain($0) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }

    /// A name for an object, made of any text and an ending of hexadecimal digits that tells it from others.
    static func object(_ text: String, ending: String) -> String {
        var name: [UInt8] = []
        for byte in text.utf8 where name.count < 40 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            if isPlain(lower) {
                name.append(lower)
            } else if let last = name.last, last != UInt8(ascii: "-") {
                name.append(UInt8(ascii: "-"))
            }
        }
        if let last = name.last, last != UInt8(ascii: "-") { name.append(UInt8(ascii: "-")) }
        return String(decoding: name, as: UTF8.self) + ending
    }
}
