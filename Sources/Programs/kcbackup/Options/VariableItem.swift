internal import KCByteStreams
internal import KCKeychainModel
internal import KCTerminal

/// An item whose secret a variable gets, on the command line: `NAME=ITEM` (kcbackup-exec(1)).
///
/// ITEM is a whole name of the item, or conditions. ITEM may be the secret itself, given by mistake, so that no message
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
    // The variables from which shells, the C library and programs that start others take code, or folders with it.
    private static let ofCode: Set<ExactText> = [
        "PATH", "HOME", "SHELL", "PWD", "TMPDIR", "TERMCAP", "TERMINFO", "LOCPATH", "NLSPATH", "IFS", "ENV", "BASHOPTS",
        "SHELLOPTS", "PS4", "CDPATH", "ZDOTDIR", "CLASSPATH", "EDITOR", "VISUAL", "PAGER", "BROWSER", "MANPAGER",
        "GNUPGHOME", "CC", "CXX", "GEM_PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH", "BUNDLE_BIN_PATH",
    ]
    // The loaders, shells, interpreters and programs with so many of these variables that only a name for a secret is
    // certain to be none of them.
    private static let families = [
        "LD_", "DYLD_", "GCONV_", "GLIBC_", "MALLOC_", "BASH_", "XDG_", "DBUS_", "GTK_", "GIO_", "QT_", "LESS",
        "OPENSSL_",
        "GIT_", "SSH_", "SUDO_", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_CONFIG_", "ELECTRON_", "JAVA_", "JDK_",
        "_JAVA_",
        "DOTNET_", "CORECLR_", "COMPLUS_", "LUA", "PHP", "CARGO_", "RUST", "ERL_", "DENO_",
    ]
    // How the names of options, hooks and commands end.
    private static let endings = [
        "OPTIONS", "OPTS", "FLAGS", "HOOK", "HOOKS", "COMMAND", "CMD", "WRAPPER", "ASKPASS", "PRELOAD", "EDITOR",
        "PAGER",
        "BROWSER", "SHELL",
    ]
    // The last words of names for secrets.
    private static let secrets: Set<ExactText> = [
        "TOKEN", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "PIN", "SECRET", "KEY", "CREDENTIAL", "CREDENTIALS", "PAT",
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
        if choosesCode(name.uppercased()) {
            throw UsageProblem(
                "the variable '\(name)' chooses code that the command runs, and gets no secret",
                hint: "choose another name, and set '\(name)' without kcbackup")
        }
    }

    /// - Parameter name: in capital letters: some programs take their variables in small ones.
    private static func choosesCode(_ name: String) -> Bool {
        if ofCode.contains(name.exact) { return true }
        let word = name.exact.split(separator: "_").last ?? name
        if secrets.contains(word.exact), word.exact != name.exact { return false }
        return families.contains { name.exact.hasPrefix($0) } || endings.contains { name.exact.hasSuffix($0) }
    }
}
