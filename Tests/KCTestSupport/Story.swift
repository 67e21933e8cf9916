import Foundation

/// A story: a sequence of command lines, with the expected output and exit status of each.
///
/// ```
/// -- NAME [MODE] --     a file of the working folder, up to the next line that begins with "--" or "$"
/// # …                   a comment
/// $ PROGRAM …           a run, with words quoted as in a shell; "<FILE" at the end is its standard input;
///                       "$tty PROGRAM …" has a terminal
/// < …                   a line that the user types (which also makes standard input a terminal)
/// @ …                   a prompt, in order; if there are none, prompts are not compared
/// > …                   a line of standard output
/// ! …                   a line of standard error
/// = N                   the exit status, 0 if omitted
/// ```
///
/// Output must match the given lines exactly; `…` matches any text within a line, and a line `...` any number of lines.
package struct Story {
    /// A command line of a story.
    package struct Step {
        /// The line number in the story.
        package let line: Int
        /// The program.
        package let program: String
        /// Its arguments.
        package let words: [String]
        /// The file in the working folder that becomes its standard input.
        package let input: String?
        /// True if standard output and standard error are a terminal.
        package let hasTerminal: Bool
        var typed: [String] = []
        var prompts: [String] = []
        var output: [String] = []
        var messages: [String] = []
        /// The expected exit status.
        package fileprivate(set) var status: Int32 = 0
    }

    /// A line that is not valid in a story.
    package struct Malformed: Error, Equatable {
        let line: Int
        let text: String
    }

    /// A file of the working folder.
    package struct File: Equatable {
        /// Its name.
        package let name: String
        /// Its permissions.
        package let mode: Int
        /// Its text.
        package fileprivate(set) var text = ""
    }

    /// The files that exist before the first run.
    package private(set) var files: [File] = []
    /// The runs.
    package private(set) var steps: [Step] = []

    /// Reads a story of `program`.
    ///
    /// - Throws: ``Malformed``.
    package init(_ text: String, of program: String) throws(Malformed) {
        var isFile = false
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let malformed = Malformed(line: index + 1, text: line)
            if line.hasPrefix("-- "), line.hasSuffix(" --") {
                guard let file = Self.file(line) else { throw malformed }
                files.append(file)
                isFile = true
                continue
            }
            if line.hasPrefix("$") { isFile = false }
            if isFile {
                files[files.count - 1].text += line + "\n"
            } else if line.hasPrefix("$") {
                steps.append(try Self.step(line, at: index + 1, of: program))
            } else if !line.isEmpty, !line.hasPrefix("#") {
                guard !steps.isEmpty, steps[steps.count - 1].take(line) else { throw malformed }
            }
        }
    }

    private static func file(_ line: String) -> File? {
        let parts = line.split(separator: " ")
        switch parts.count {
        case 3: return File(name: String(parts[1]), mode: 0o600)
        case 4: return Int(parts[2], radix: 8).map { File(name: String(parts[1]), mode: $0) }
        default: return nil
        }
    }

    private static func step(_ line: String, at number: Int, of program: String) throws(Malformed) -> Step {
        let hasTerminal = line.hasPrefix("$tty ")
        var words = words(String(line.dropFirst(hasTerminal ? 5 : 2)))
        guard words.first == program else { throw Malformed(line: number, text: line) }
        words.removeFirst()
        var input: String?
        if let last = words.last, last.hasPrefix("<") {
            input = String(last.dropFirst())
            words.removeLast()
        }
        return Step(line: number, program: program, words: words, input: input, hasTerminal: hasTerminal)
    }

    /// Splits a command line at spaces outside quotation marks.
    package static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            switch (character, quote) {
            case (let end, let open?) where end == open: quote = nil
            case ("'", nil), ("\"", nil):
                quote = character
                word = word ?? ""
            case (" ", nil):
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap { $0 }
    }
}

extension Story.Step {
    /// Records a line of expected input or output; returns false if it is not one.
    fileprivate mutating func take(_ line: String) -> Bool {
        // An empty line may lack its trailing space, which editors remove.
        let body = String(line.dropFirst(2))
        switch line.prefix(1) {
        case "<": typed.append(body)
        case "@": prompts.append(body)
        case ">": output.append(body)
        case "!": messages.append(body)
        case "=":
            guard let number = Int32(body) else { return false }
            status = number
        default: return false
        }
        return true
    }
}
