// Fence: reads the words that the process was started with as the C library hands them down.

/// The words that the process was started with.
package enum ProcessArguments {
    /// Why nobody can tell what the program is to do.
    package enum Unreadable: Error, Hashable, Sendable {
        /// A word is not UTF-8; the standard library would put other characters in its position without a word. The position
        /// is counted from 1, the first one after the program's name.
        case notUTF8(position: Int)
        /// Not even the program's name is there, which Linux hands to every program: the Swift runtime finds the words by
        /// `/proc/self/maps`, and reports none where it cannot read that file.
        case missing

        /// The objection in words, a clause without a full stop.
        package var reason: String {
            switch self {
            case .notUTF8(let position): "argument \(position) is not UTF-8"
            case .missing: "the arguments cannot be read; is /proc mounted, and can files be opened?"
            }
        }
    }

    /// The words after the program's name.
    ///
    /// - Throws: `Unreadable`.
    package static func words() throws(Unreadable) -> [String] {
        var words: [String] = []
        let count = Int(CommandLine.argc)
        // No words would mean help, and success, to a program that was to make a backup.
        guard count >= 1 else { throw .missing }
        for position in 1..<count {
            guard let bytes = unsafe CommandLine.unsafeArgv[position] else { throw .missing }
            guard let word = unsafe String(validatingCString: bytes) else { throw .notUTF8(position: position) }
            words.append(word)
        }
        return words
    }
}
