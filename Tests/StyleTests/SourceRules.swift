/// A rule that applies to each source file on its own.
enum SourceRule: String, CaseIterable, Sendable {
    case libraryHasOneImporter = "a library is imported by its one target only"
    case importsAreDeclared = "a target imports only the targets that Package.swift lists for it"
    case importsAreSorted = "imports are sorted by their modules"
    case noFoundationInPrograms = "Foundation is imported by the libraries for other programs only"
    case unsafeStaysInFences = "`unsafe` stands in the fences only"
    case onlyProgramPrints = "only the programs print"
    case inputNeverTraps = "no `fatalError`: what input can cause is thrown, what only we can cause is a precondition"
    case fileHoldsOneIdea = "a file has at most 350 lines"
    case functionFitsScreen = "a function has at most 60 lines, unless it is a table of the cases of an error"
    case textIsBytes = "text that meets a machine is searched, split, compared and used as a key as `text.exact`"
    case scriptsAreConstant = "a shell runs a constant script, or a command of the user"
    case pastedWordsAreQuoted = "foreign text in a command that the user may paste is a `shellWord`"
    case commandsAreQuoted = "a command that the user may copy is in quotes, within which no line is broken"
    case commandsAreOfPrograms = "the programs say which command helps; the targets below return facts"
    case archivesAreNamed = "an archive is opened under its name, or where nobody else can have given it one"
    case tasksHaveNoWords = "a task knows no option, terminal, exit code or sentence"
    case proseIsNotRead = "what the program does depends on no message and no hint"
    case commentsNameTheirSubject = "no sentence of a comment begins with It, That, Those, What or One"
    case nothingLeftOver = "no mark says that something is still to be done"

    /// The only target that may import each library.
    static let owners = [
        "CKCLibArchive": "KCTarArchive", "CKCLibCrypto": "KCCryptography",
        "CKCMLKEM": "KCCryptography", "CKCZlib": "KCGzipStreams",
        "CKCDeflate": "KCGzipStreams",
        "CKCSQLite": "KCKeychainStore",
        "CKCKeyUtils": "KCKernelKeyring", "CKCZxcvbn": "KCPasscodeStrength", "CKCSystem": "KCConsole",
        "CKCFiles": "KCByteStreams", "CKCSandbox": "KCSandbox",
        "CKCArgon2": "KCExportFormats", "CKCGCrypt": "KCForeignFormats", "CKCExpat": "KCForeignFormats",
        "CKCYAML": "KCForeignFormats",
        "CKCLibSecret": "KCSecretService", "CKCQRencode": "KCQRCodes", "CKCTPM2": "KCSecurityChip",
        "CKCFIDO2": "KCSecurityTokens",
    ]
    /// The targets that may import the parser of command lines.
    static let parserUsers: Set = ["kcbackup", "KCFleetCommand", "KCProtectCommand", "KCTerminal"]
    /// The targets that are programs.
    static let programs: Set = ["kcbackup", "KCFleetCommand", "KCProtectCommand", "KCSecurityCommand"]
    /// The targets that may import Foundation.
    ///
    /// They provide the interfaces of other libraries, which use Foundation's types. Elsewhere bytes, paths and dates
    /// have types of their own, no secret may get into a `Data`, and a program without Foundation is a quarter of the
    /// size.
    static let foundationTargets: Set = ["KeychainSecurity", "LocalAuthentication", "SAMKeychain", "SSKeychain"]
    /// The targets that deal with memory, system calls or a C library.
    static let fenceTargets: Set = [
        "KCByteStreams", "KCCryptography", "KCTarArchive", "KCGzipStreams", "KCKernelKeyring", "KCPasscodeStrength",
        "KCSecretService", "KCQRCodes", "KCSecurityChip", "KCSecurityTokens",
    ]
    /// The files in other targets that call C, each for the reason given in its first comment.
    static let fenceFiles: Set = [
        "Sources/Base/KCSandbox/Sandbox.swift",
        "Sources/Importers/KCExportFormats/Libraries/Argon2.swift",
        "Sources/Importers/KCForeignFormats/Libraries/LibGCrypt.swift",
        "Sources/Importers/KCForeignFormats/Libraries/LibYAML.swift",
        "Sources/Importers/KCForeignFormats/Libraries/Salsa20.swift",
        "Sources/Importers/KCForeignFormats/Libraries/Twofish.swift",
        "Sources/Importers/KCForeignFormats/Libraries/XMLReader.swift",
        "Sources/Importers/KCForeignFormats/Libraries/YAMLReader.swift",
        "Sources/Keychain/KCKeychainStore/Database.swift", "Sources/Keychain/KCKeychainStore/DatabaseImage.swift",
        "Sources/Keychain/KCKeychainStore/KeychainPath.swift",
        "Sources/Keychain/KCKeychainStore/SQLStatement.swift", "Sources/Keychain/KCKeychainStore/SQLiteCodes.swift",
        "Sources/Backup/KCBackupCatalogue/LocalCalendar.swift", "Sources/Apple/KeychainSecurity/Items/SecItem.swift",
        "Sources/Apple/LocalAuthentication/LAContext.swift",
        "Sources/Apple/KeychainSecurity/Client/FairLock.swift",
        "Sources/Apple/KeychainSecurity/References/SecKeyOperations.swift",
        "Sources/Apple/KeychainSecurity/References/SecKeyRawOperations.swift",
        "Sources/Apple/KeychainSecurity/CoreFoundation/CoreFoundationValues.swift",
        "Sources/Apple/KeychainSecurity/References/SecIdentityCreation.swift",
        "Sources/Apple/KeychainSecurity/CoreFoundation/CoreFoundationDictionaries.swift",
        "Sources/Apple/KeychainSecurity/Constants/AccessibilityConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/AttributeConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/CallConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/ClassConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/ForeignConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/KeyConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/ProtocolConstants.swift",
        "Sources/Apple/KeychainSecurity/Constants/TrustConstants.swift",
        "Sources/Apple/KeychainSecurity/References/SecAccessControl.swift",
        "Sources/Apple/KeychainSecurity/References/SecCertificate.swift",
        "Sources/Apple/KeychainSecurity/References/SecKey.swift",
        "Sources/Apple/KeychainSecurity/References/SecRandom.swift",
        "Sources/Apple/KeychainSecurity/References/SecPKCS12Import.swift",
        "Sources/Apple/KeychainSecurity/References/SecItemExport.swift",
        "Sources/Apple/KeychainSecurity/References/SecItemImport.swift",
        "Sources/Apple/KeychainSecurity/References/SecKeyCreation.swift",
        "Sources/Apple/KeychainSecurity/References/SecretData.swift",
        "Sources/Apple/KeychainSecurity/Trust/SecTrust.swift",
        "Sources/Apple/KeychainSecurity/Trust/SecTrustEvaluation.swift",
        "Sources/Apple/SAMKeychain/PasswordArchive.swift",
        "Sources/Apple/SAMKeychain/SAMKeychain.swift", "Sources/Apple/SAMKeychain/SAMKeychainQuery.swift",
        "Sources/Base/KCConsole/ControllingTerminal.swift", "Sources/Base/KCConsole/Descriptor.swift",
        "Sources/Base/KCConsole/ProcessArguments.swift", "Sources/Base/KCConsole/ProcessEnvironment.swift",
        "Sources/Base/KCConsole/ProcessSetup.swift", "Sources/Base/KCConsole/TerminalEcho.swift",
        "Sources/Base/KCConsole/ChildProcess.swift", "Sources/Base/KCConsole/ChildProgram.swift",
        "Sources/Base/KCConsole/ChildDialogue.swift",
        "Sources/Base/KCConsole/TerminalSignals.swift", "Sources/Base/KCConsole/Inheritance.swift",
        "Sources/Base/KCConsole/Successor.swift", "Sources/Base/KCConsole/SharedTerminal.swift",
    ]
    /// The files that open archives: a new one should use `NamedArchive`, as all do that read archives from a place where
    /// others can write, or compare them with an entry of a catalogue.
    static let archiveOpeners: Set = [
        "Sources/Backup/KCBackupCatalogue/FileState.swift", "Sources/Backup/KCBackupCatalogue/ListedArchive.swift",
        "Sources/Backup/KCBackupCatalogue/Rebuilding.swift", "Sources/Backup/KCFleetIndex/FleetIndexer.swift",
        "Sources/Backup/KCItemStores/ArchivedStateFolder.swift",
        "Sources/Programs/kcbackup/Archives/ArchiveOutput.swift",
        "Sources/Programs/kcbackup/Archives/FolderKeys.swift",
        "Sources/Programs/kcbackup/Remotes/RemoteDestination.swift",
        "Sources/Tasks/KCBackupTasks/PlacedArchive.swift", "Sources/Tasks/KCBackupTasks/Verification.swift",
    ]
    /// The files that still read messages.
    static let readersOfProse: Set = [
        "Sources/Programs/KCTerminal/CommandLine/CommandLineProblem.swift",
        "Sources/Programs/KCTerminal/Session.swift",
    ]
    /// The endings of the calls that replace this process.
    private static let execs = ["l", "v", "lp", "vp", "le", "ve", "lpe", "vpe"]
    /// The maximum number of lines in a file.
    static let longestFile = 350

    /// The places where `file` breaks the rule; empty if it follows the rule.
    func violations(in file: SourceFile, of manifest: Manifest = .current) -> [String] {
        switch self {
        case .libraryHasOneImporter:
            let target = file.target ?? ""
            return file.imports.filter {
                $0 == "ArgumentParser" ? !Self.parserUsers.contains(target) : Self.owners[$0, default: target] != target
            }
            .map { "\(file.path) imports \($0)" }
        case .importsAreDeclared:
            let declared = manifest.dependencies[file.target ?? ""] ?? []
            return file.imports.filter { manifest.dependencies[$0] != nil && !declared.contains($0) }
                .map { "\(file.path) imports \($0)" }
        case .importsAreSorted:
            return ImportOrder.violations(in: file)
        case .noFoundationInPrograms:
            guard !Self.foundationTargets.contains(file.target ?? "") else { return [] }
            return file.imports.filter { $0.hasPrefix("Foundation") }.map { "\(file.path) imports \($0)" }
        case .unsafeStaysInFences:
            guard !Self.fenceTargets.contains(file.target ?? ""), !Self.fenceFiles.contains(file.path) else {
                return []
            }
            return file.lines(of: file.code.places(ofWord: "unsafe"))
        case .onlyProgramPrints:
            guard !Self.programs.contains(file.target ?? "") else { return [] }
            let places = ["print(", "debugPrint(", "dump("].flatMap { file.code.places(of: $0) }
            return file.lines(of: places.filter { !file.code.isInWord($0 - 1) && !file.code.has(".", before: $0) })
        case .inputNeverTraps:
            return file.lines(of: file.code.places(ofWord: "fatalError"))
        case .fileHoldsOneIdea:
            let lines = file.whole.places(of: "\n").count
            return lines > Self.longestFile ? ["\(file.path): \(lines) lines"] : []
        case .functionFitsScreen:
            return FunctionLength.violations(in: file)
        case .textIsBytes:
            return TextRule.violations(in: file)
        case .scriptsAreConstant:
            let owners = ["Sources/Base/KCConsole/ChildProcess.swift", "Sources/Fences/CKCSystem/shim.h"]
            if owners.contains(file.path) { return [] }
            let isOfUser = TextRule.userCommands.contains(file.path)
            let starts = ["posix_spawn", "popen("] + Self.execs.map { "exec\($0)(" } + (isOfUser ? [] : ["ofUser:"])
            return file.lines(
                of: starts.flatMap { file.code.places(of: $0) }.filter { !file.code.isInWord($0 - 1) })
        case .pastedWordsAreQuoted:
            // In the complete text: `code` has no contents of strings.
            let commands = ["kcbackup", "chmod", "rm", "mv", "ln"].flatMap { file.whole.places(of: "'\($0) ") }
            return file.lines(
                of: commands.filter { place in
                    let command = file.whole.bytes[(place + 1)...].prefix { $0 != 0x0a && $0 != UInt8(ascii: "'") }
                    let text = SearchedText(Array(command))
                    return text.contains("\\(displayed") || text.contains("\\(quoted")
                })
        case .commandsAreQuoted:
            if !file.path.hasPrefix("Sources/Programs/") { return [] }
            return file.lines(of: [":", ";", ","].flatMap { file.whole.places(of: "\($0) kcbackup ") })
        case .commandsAreOfPrograms:
            if file.path.hasPrefix("Sources/Programs/") { return [] }
            return file.lines(of: file.whole.places(of: "'kcbackup "))
        case .archivesAreNamed:
            if file.target == "KCBackupArchive" || Self.archiveOpeners.contains(file.path) { return [] }
            return file.lines(of: file.code.places(of: "ArchiveFile(").filter { !file.code.isInWord($0 - 1) })
        case .tasksHaveNoWords:
            if file.floor != "Tasks" { return [] }
            let words = ["OptionName", "ExitStatus", "Terminal", "ParsableArguments", "Explanation"]
            return file.imports.filter { ["ArgumentParser", "KCReportText"].contains($0) }
                .map { "\(file.path) imports \($0)" } + file.lines(of: words.flatMap { file.code.places(ofWord: $0) })
        case .proseIsNotRead:
            guard file.path.hasPrefix("Sources/Programs/"), !Self.readersOfProse.contains(file.path) else {
                return []
            }
            let questions = [
                ".message ==", ".message !=", "message.exact", "message.contains(", ".hints ==", ".hints !=",
                "hints.contains",
            ]
            return file.lines(of: questions.flatMap { file.code.places(of: $0) })
        case .commentsNameTheirSubject:
            return CommentSubjects.violations(in: file)
        case .nothingLeftOver:
            return leftovers(in: file)
        }
    }
}

/// The lines of `file`, including comments, that carry a mark of unfinished work.
func leftovers(in file: SourceFile) -> [String] {
    // Split, so that this line does not match.
    let marks = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
    let places = marks.flatMap { file.whole.places(ofWord: $0) }
    return file.whole.lines(of: places).map { "\(file.path):\($0)" }
}
