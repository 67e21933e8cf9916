internal import Glibc

/// The name by which a client knows a server (RFC 9525), as it is compared with the names in a certificate.
package enum HostName: Hashable, Sendable {
    /// A DNS name in lower-case or upper-case ASCII, without the final dot.
    case dns([UInt8])
    /// The 4 or 16 bytes of an IP address, which only an `iPAddress` in the certificate matches.
    case address([UInt8])
    /// Text that is neither, and which no certificate matches.
    case invalid

    /// Parses text; the final dot of an absolute name is dropped.
    package init(_ text: String) {
        var name = Array(text.utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        if let address = Self.address(name) {
            self = .address(address)
        } else {
            self = Self.isName(name) ? .dns(name) : .invalid
        }
    }

    /// Labels of letters, digits, hyphens and underscores, the last of which is not a number: an address in a form that
    /// only some programs read is not the name of a server.
    private static func isName(_ name: [UInt8]) -> Bool {
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= 253, let last = labels.last, !last.allSatisfy(isDigit) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func address(_ text: [UInt8]) -> [UInt8]? {
        guard !text.contains(0) else { return nil }
        let terminated = (text + [0]).map { CChar(bitPattern: $0) }
        for (family, length) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: length)
            if unsafe inet_pton(family, terminated, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
