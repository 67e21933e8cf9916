internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel

/// Commands from standard input, one per line.
extension Session {
    // In bytes; longer than any command with a certificate in hexadecimal.
    private static let lineLimit = 1 << 20

    /// Runs commands until the input ends or a line is `quit` or `exit`.
    ///
    /// - Parameter prompt: the prompt shown to a user at a terminal.
    /// - Returns: the exit status of the last command.
    /// - Throws: `StreamFailure`; `Failure` if a line is too long.
    func runInteractively(prompt: String) throws -> ExitStatus {
        isInteractive = true
        var status = ExitStatus.ok
        var lines = LineReader(CommandSource(input: world.input), pieceSize: 4096)
        while true {
            if world.terminal.isAttended { message(prompt) }
            guard let line = try nextLine(&lines) else { return status }
            let words: [String]
            do throws(LineObjection) {
                words = try shellWords(line)
            } catch {
                message("security: \(error.rawValue)\n")
                status = error == .notUTF8 ? .usage : .failed
                continue
            }
            guard let name = words.first else { continue }
            if name == "quit" || name == "exit" { return status }
            status = execute(words)
            if status == .brokenPipe { return status }
            if status != .ok { message("\(displayed(name, limit: 100)): returned \(status.code)\n") }
        }
    }

    private func nextLine(_ lines: inout LineReader<CommandSource>) throws -> SecretBytes? {
        do throws(LineFailure) {
            guard try lines.advance(limit: Self.lineLimit) != nil else { return nil }
            return lines.withLine { SecretBytes($0) }
        } catch {
            switch error {
            case .tooLong: throw Failure(saying: "a line has more than \(Self.lineLimit) bytes")
            case .stream(let failure): throw failure
            }
        }
    }
}

/// Why a line cannot be split into words.
enum LineObjection: String, Error {
    case openQuotation = "a quotation mark is not closed"
    case notUTF8 = "the line is not UTF-8"
}

/// Splits a line at spaces, with quotation marks and backslashes as in a shell.
///
/// Within single quotation marks, everything is literal. Within double quotation marks, a backslash escapes a double
/// quotation mark or a backslash; elsewhere it escapes any character.
///
/// - Throws: `LineObjection`; invalid UTF-8 is refused rather than replaced, since it may be part of a password.
func shellWords(_ line: borrowing SecretBytes) throws(LineObjection) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    var isInWord = false
    var quote: UInt8?
    var isEscaped = false
    try line.withBytes { bytes throws(LineObjection) in
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                if quote != nil, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                    word.append(UInt8(ascii: "\\"))
                }
                word.append(byte)
                isInWord = true
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "'") {
                isEscaped = true
            } else if let open = quote {
                if byte == open { quote = nil } else { word.append(byte) }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                isInWord = true
            } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") {
                if isInWord { words.append(try text(of: word)) }
                word.removeAll(keepingCapacity: true)
                isInWord = false
            } else {
                word.append(byte)
                isInWord = true
            }
        }
    }
    if quote != nil || isEscaped { throw .openQuotation }
    if isInWord { words.append(try text(of: word)) }
    return words
}

private func text(of word: [UInt8]) throws(LineObjection) -> String {
    guard let text = String(validating: word, as: UTF8.self) else { throw .notUTF8 }
    return text
}
