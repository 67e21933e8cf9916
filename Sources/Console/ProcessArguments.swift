// Fence: reads the words that the process was started with as the C library hands them down.

/// The words that the process was started with.
public enum ProcessArguments {
    /// A word is not UTF-8; the standard library would put other characters in its place without a word.
    public struct NotUTF8: Error, Hashable, Sendable {
        /// Which one, from 1: the first one after the program's name.
        public let place: Int

        /// The objection in words, a clause without a full stop.
        public var reason: String { "argument \(place) is not UTF-8" }
    }

    /// The words after the program's name.
    ///
    /// - Throws: `NotUTF8` for the first one that is not.
    public static func words() throws(NotUTF8) -> [String] {
        var words: [String] = []
        // A process can be started without even a name.
        for place in 0..<max(1, Int(CommandLine.argc)) where place > 0 {
            guard let bytes = unsafe CommandLine.unsafeArgv[place] else { break }
            guard let word = unsafe String(validatingCString: bytes) else { throw NotUTF8(place: place) }
            words.append(word)
        }
        return words
    }
}
