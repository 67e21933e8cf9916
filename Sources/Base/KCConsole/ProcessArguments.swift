// Fence: reads the command-line arguments from the C library.

/// The command-line arguments of the process.
package enum ProcessArguments {
    /// Why the arguments cannot be read.
    package enum Unreadable: Error, Hashable, Sendable {
        /// An argument is not UTF-8; the standard library would silently replace characters. Positions start at 1,
        /// after the program's name.
        case notUTF8(position: Int)
        /// Not even the program's name is available, although Linux always passes it. The Swift runtime finds the
        /// arguments through `/proc/self/maps`, and reports none if it cannot read that file.
        case missing

        /// The problem as a clause without a period.
        package var reason: String {
            switch self {
            case .notUTF8(let position): "argument \(position) is not UTF-8"
            case .missing: "the arguments cannot be read; is /proc mounted, and can files be opened?"
            }
        }
    }

    /// The arguments after the program's name.
    package static func words() throws(Unreadable) -> [String] {
        var words: [String] = []
        let count = Int(CommandLine.argc)
        // An empty list would print help and succeed, instead of making a backup.
        guard count >= 1 else { throw .missing }
        for position in 1..<count {
            guard let bytes = unsafe CommandLine.unsafeArgv[position] else { throw .missing }
            guard let word = unsafe String(validatingCString: bytes) else { throw .notUTF8(position: position) }
            words.append(word)
        }
        return words
    }
}
