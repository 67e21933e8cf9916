internal import KCByteStreams
internal import KCSecurityStatus

extension Command {
    static let error = Command(
        "error", "Show the message of status codes.", operands: "code...", takesAllWords: true,
        notes: ["A code is a decimal number, or a hexadecimal one that begins with 0x."]
    ) { words, session in
        if words.operands.isEmpty { throw UsageProblem() }
        let codes = try words.operands.map { word throws(UsageProblem) in
            guard let code = statusCode(word) else { throw UsageProblem(reason: "a code is not a number of 32 bits") }
            return code
        }
        for code in codes {
            let digits = String(UInt32(bitPattern: code), radix: 16, uppercase: true)
            let hexadecimal = String(repeating: "0", count: 8 - digits.count) + digits
            try session.write("Error: 0x\(hexadecimal) \(code) \(SecurityStatus.message(for: code))\n")
        }
        return .ok
    }
}

/// Parses a status as users copy it: -25300, 25300 (a different one), or 0xFFFF9D2C and 4294941996 for the same bits.
private func statusCode(_ word: String) -> Int32? {
    if word.exact.hasPrefix("0x") || word.exact.hasPrefix("0X") {
        // `UInt32` would also accept a sign.
        guard word.dropFirst(2).allSatisfy(\.isHexDigit) else { return nil }
        return UInt32(word.dropFirst(2), radix: 16).map { Int32(bitPattern: $0) }
    }
    return Int32(word) ?? UInt32(word).map { Int32(bitPattern: $0) }
}
