internal import KCByteStreams
package import KCDeviceIdentity

/// The error in a list that an administrator wrote; lines count from 1.
package enum FleetListFailure: Error, Hashable, Sendable {
    /// A line of the inventory is not an ID, a name and perhaps an age.
    case inventoryLine(Int)
    /// A line of the inventory has an age of more than `Inventory.ageLimit`.
    case age(Int)
    /// A device is in the inventory twice, the second time in this line.
    case listedTwice(Int)
    /// Two machines of which something is expected have one name, the second one in this line.
    case namedTwice(Int)
    /// The inventory names no machine, so that none could be reported as missing; the file may have been truncated.
    case noMachine
    /// A line of the list of signers is not one that ssh-keygen(1) describes.
    case signerLine(Int)
    /// A line of the list of signers limits a key in a way that this program does not check.
    case signerOption(Int)
    /// The list is not text in UTF-8.
    case notText
}

/// How long a machine may be without a good backup.
package struct MaximumAge: Hashable, Sendable {
    /// In hours.
    package let hours: Int64

    /// The age in hours; at least 1.
    init(hours: Int64) {
        precondition(hours > 0, "an age has at least an hour")
        self.hours = hours
    }

    /// Parses an age such as `26h` or `8d`; nil for anything else.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([1-9]\d{0,4})(h|d)/), let number = Int64(match.1) else { return nil }
        hours = match.2 == "d" ? number * 24 : number
    }

    /// The age in microseconds.
    package var microseconds: Int64 { hours * 3_600_000_000 }
}

/// The machines that a fleet should have: lines `DEVICE-ID NAME [AGE]`, and comments that begin with `#`.
///
/// An age of `-` says that nothing is expected of the machine, as of one that is in repair.
package struct Inventory: Sendable {
    /// The largest file, in bytes.
    package static let sizeLimit = 16_777_216
    /// The longest age, a year: each day of it is listed and fetched, and a mistyped one would be for hours.
    package static let ageLimit = MaximumAge(hours: 365 * 24)
    // In bytes; host names have at most 253.
    private static let nameLimit = 255

    /// A machine.
    package struct Machine: Hashable, Sendable {
        /// The name that people use for it.
        package let name: String
        package let expectation: Expectation
    }

    /// How often a machine should make a backup.
    package enum Expectation: Hashable, Sendable {
        /// As often as any other.
        case usual
        case within(MaximumAge)
        case nothing
    }

    /// The machines by ID.
    package private(set) var machines: [DeviceID: Machine] = [:]

    /// The longest time that any machine may be without a good backup.
    package func longestAge(usual: MaximumAge) -> MaximumAge {
        machines.values.reduce(usual) { longest, machine in
            if case .within(let age) = machine.expectation, age.hours > longest.hours { age } else { longest }
        }
    }

    /// Parses a file.
    package init(_ text: [UInt8]) throws(FleetListFailure) {
        var names: Set<ExactText> = []
        for (number, line) in try textLines(text) {
            let words = line.exact.replacing("\t", with: " ").exact.split(separator: " ")
            guard 2...3 ~= words.count, let device = DeviceID(words[0]), words[1].utf8.count <= Self.nameLimit,
                !words[1].exact.hasControlCharacter
            else { throw .inventoryLine(number) }
            var expectation = Expectation.usual
            if words.count == 3 {
                if words[2].exact == "-" {
                    expectation = .nothing
                } else if let age = MaximumAge(words[2]) {
                    guard age.hours <= Self.ageLimit.hours else { throw .age(number) }
                    expectation = .within(age)
                } else {
                    throw .inventoryLine(number)
                }
            }
            let machine = Machine(name: words[1], expectation: expectation)
            guard machines.updateValue(machine, forKey: device) == nil else { throw .listedTwice(number) }
            // A machine that was replaced may keep its name beside that of its successor.
            guard expectation == .nothing || names.insert(machine.name.exact).inserted else {
                throw .namedTwice(number)
            }
        }
        if machines.isEmpty { throw .noMachine }
    }
}

/// The devices in an `allowed_signers` file (ssh-keygen(1)), as `kcbackup device show` prints its lines.
///
/// Keys that are not Ed25519, certificate authorities, and keys for other namespaces only are left out.
package struct AllowedSigners: Sendable {
    /// The devices, with a name if the comment of the line has one.
    package private(set) var devices: [DeviceID: String] = [:]

    /// Parses a file.
    package init(_ text: [UInt8]) throws(FleetListFailure) {
        for (number, line) in try textLines(text) {
            guard let words = Self.words(line) else { throw .signerLine(number) }
            var rest = words.dropFirst()
            guard let first = rest.first else { throw .signerLine(number) }
            var options: [String] = []
            if !Self.isKeyType(first) {
                guard let given = Self.options(first) else { throw .signerLine(number) }
                options = given
                rest = rest.dropFirst()
            }
            guard let type = rest.first, Self.isKeyType(type), let key = rest.dropFirst().first else {
                throw .signerLine(number)
            }
            guard try isForReceipts(options, number), type.exact == "ssh-ed25519" else { continue }
            guard let publicKey = Self.publicKey(key) else { throw .signerLine(number) }
            devices[DeviceID(publicKey: publicKey)] = rest.dropFirst(2).joined(separator: " ")
        }
    }

    /// False if the key of a line is for something else.
    private func isForReceipts(_ options: [String], _ line: Int) throws(FleetListFailure) -> Bool {
        for option in options {
            if option.lowercased().exact == "cert-authority" { return false }
            guard let quoted = option.exact.removingPrefix("namespaces="),
                let list = quoted.exact.removingPrefix("\"")?.exact.removingSuffix("\"")
            else { throw .signerOption(line) }
            // Who may sign archives may say that there are some.
            let ours = SSHSignature.Namespace.allCases.map(\.rawValue.exact)
            if !list.exact.split(separator: ",").contains(where: { ours.contains($0.exact) }) { return false }
        }
        return true
    }

    private static func isKeyType(_ word: String) -> Bool {
        ["ssh-", "ecdsa-", "sk-"].contains { word.exact.hasPrefix($0) }
    }

    /// The Ed25519 key in base 64 and in the form of the SSH protocol; nil if it is not one.
    private static func publicKey(_ text: String) -> [UInt8]? {
        guard let bytes: [UInt8] = Base64.decode(Array(text.utf8).span) else { return nil }
        let key = Array(bytes.suffix(32))
        let line = SSHSignature.allowedSignersLine(publicKey: key)
        return key.count == 32 && line.exact.hasSuffix(" " + text) ? key : nil
    }

    /// The words of a line; nil if a quotation, in which white space is part of a word, does not end.
    private static func words(_ line: String) -> [String]? { pieces(of: line) { $0 == 0x20 || $0 == 0x09 } }

    /// The options in a word; nil if one has no name.
    private static func options(_ word: String) -> [String]? { pieces(of: word) { $0 == UInt8(ascii: ",") } }

    private static func pieces(of text: String, _ isSeparator: (UInt8) -> Bool) -> [String]? {
        var pieces: [[UInt8]] = []
        var piece: [UInt8] = []
        var isQuoted = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted || !isSeparator(byte) {
                piece.append(byte)
            } else if !piece.isEmpty {
                pieces.append(piece)
                piece = []
            }
        }
        if !piece.isEmpty { pieces.append(piece) }
        return isQuoted ? nil : pieces.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The lines that are neither empty nor comments, with their numbers, and without spaces around them.
private func textLines(_ text: [UInt8]) throws(FleetListFailure) -> [(number: Int, line: String)] {
    guard String(validating: text, as: UTF8.self) != nil else { throw .notText }
    var lines: [(number: Int, line: String)] = []
    for (index, bytes) in text.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
        let line = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
        lines.append((index + 1, String(decoding: Array(line), as: UTF8.self)))
    }
    return lines
}
