internal import KCByteStreams
internal import KCKeychainModel

/// An item whose secret a variable gets, on the command line: `NAME=ITEM` (kcbackup-exec(1)).
///
/// ITEM is a whole name of the item, or conditions. It may be the secret itself, given by mistake, so that no message
/// repeats it.
struct VariableItem {
    /// The name of the variable.
    let name: String
    /// True if the variable gets the path of a file with the secret.
    let isFile: Bool
    /// The conditions; with `wholeName`, they accept more than is meant.
    let filter: ItemFilter
    private let wholeName: String?

    private static let form = "NAME=ITEM"

    /// Parses `word`.
    ///
    /// - Throws: `UsageProblem`, `ItemProblem` (`unknownAttribute`, `wrongKind`, `unknownAccessibility`).
    init(_ word: String, of option: OptionName) throws {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageProblem.malformed(option, form: Self.form)
        }
        name = String(word[..<equals])
        isFile = option == .withFile
        try EnvironmentName.check(name, of: option)
        let item = String(word[word.utf8.index(after: equals)...])
        if item.isEmpty { throw UsageProblem.malformed(option, form: Self.form) }
        if item.utf8.contains(UInt8(ascii: "=")) {
            wholeName = nil
            filter = try Self.conditions(item, of: option)
        } else {
            wholeName = item
            var filter = ItemFilter()
            filter.text = item
            self.filter = filter
        }
    }

    /// True if the item, which passes the filter, is meant.
    ///
    /// A part of a name is not enough: another item with this part, added later, would take the place of one that was
    /// deleted.
    func means(_ item: Item) -> Bool {
        guard let wholeName else { return true }
        return [AttributeCode.labl, .svce, .srvr].contains { code in
            item.attributes.text(code).map { $0.exact == wholeName.exact } ?? false
        }
    }

    private static func conditions(_ text: String, of option: OptionName) throws -> ItemFilter {
        var filter = ItemFilter()
        for part in parts(of: text) {
            if let word = part.exact.removingPrefix("class=") {
                guard let itemClass = ItemClass(argument: word), filter.itemClass == nil else {
                    throw UsageProblem.malformed(option, form: "\(form) with one class: genp, inet, cert or keys")
                }
                filter.itemClass = itemClass
            } else if let word = part.exact.removingPrefix("uuid=") {
                guard let uuid = ItemUUID(word), filter.uuid == nil else {
                    throw UsageProblem.malformed(option, form: "\(form) with one UUID")
                }
                filter.uuid = uuid
            } else {
                let assignment = try condition(part, of: option)
                let earlier = filter.attributes.updateValue(assignment.value, forKey: assignment.code)
                if earlier != nil { throw UsageProblem.attributeTwice(assignment.code) }
            }
        }
        return filter
    }

    private static func condition(_ part: String, of option: OptionName) throws -> AttributeAssignment {
        let problem = UsageProblem.malformed(option, form: "\(form) with conditions as in 'service=db,account=app'")
        guard part.utf8.contains(UInt8(ascii: "=")) else { throw problem }
        do {
            return try AttributeAssignment(part, of: option)
        } catch ItemProblem.unknownAttribute(let name) where AttributeCode.nearest(to: name) == nil {
            // Base64 has '=' too.
            throw problem
        }
    }

    /// The parts between commas; after a backslash, a comma or a backslash is a character like others.
    private static func parts(of text: String) -> [String] {
        var parts: [[UInt8]] = [[]]
        var bytes = text.utf8.makeIterator()
        var next = bytes.next()
        while let byte = next {
            next = bytes.next()
            let comma = UInt8(ascii: ","), backslash = UInt8(ascii: "\\")
            if byte == backslash, let escaped = next, escaped == comma || escaped == backslash {
                parts[parts.count - 1].append(escaped)
                next = bytes.next()
            } else if byte == comma {
                parts.append([])
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The names of variables that a command may get secrets in.
enum EnvironmentName {
    // What the dynamic loader, the C library, shells and interpreters take code from, or folders that they search for it.
    private static let ofCode: Set<ExactText> = [
        "PATH", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH",
        "IFS", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "ZDOTDIR",
        "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5LIB", "PERLLIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT",
        "NODE_PATH", "NODE_OPTIONS", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
        "LUA_INIT", "PHPRC", "OPENSSL_CONF", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE",
        "MANPAGER",
        "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
    ]

    /// Refuses what is no name, and the names that choose code: anyone who can write the item would choose what is run.
    static func check(_ name: String, of option: OptionName) throws(UsageProblem) {
        let first = name.utf8.first
        guard let first, name.exact.isASCIILettersAndDigits(or: "_"),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else {
            throw UsageProblem(
                "what stands before '=' in the value of '\(option.spelling)' is not a variable name",
                hint: "a name has letters, digits and '_', and does not begin with a digit, as in 'API_TOKEN'")
        }
        if ofCode.contains(name.exact) || name.exact.hasPrefix("LD_") {
            throw UsageProblem(
                "the variable '\(name)' chooses code that the command runs, and gets no secret",
                hint: "choose another name, and set '\(name)' without kcbackup")
        }
    }
}
