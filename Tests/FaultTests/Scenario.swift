import Foundation
import KCTestSupport
import Testing

/// A command of the program, by its name in `trial.sh`.
enum Scenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case createEncrypted = "create-encrypted"
    case createUnencrypted = "create-unencrypted"
    case createTo = "create-to"
    case prune
    case pruneUndo = "prune-undo"
    case run
    case rekey
    case rekeyFile = "rekey-file"
    case drill
    case escrow
    case restoreExisting = "restore-existing"
    case restoreReplace = "restore-replace"
    case restoreNew = "restore-new"
    case undo
    case importLines = "import"
    case importForeign = "import-foreign"
    case importRemove = "import-remove"
    case export
    case setPasscode = "set-passcode"
    case keychainCreate = "keychain-create"
    case keychainFirst = "keychain-first"
    case keychainDelete = "keychain-delete"
    case deviceRenew = "device-renew"
    case deviceAdopt = "device-adopt"
    case protect
    case unprotect
    case itemAdd = "item-add"
    case itemUpdate = "item-update"
    case itemDelete = "item-delete"
    case restoreHome = "restore-home"
    case scheduleAdd = "schedule-add"
    case trust
    case keychainDefault = "keychain-default"

    var testDescription: String { rawValue }
}

/// A prepared home folder, the state that the undisturbed command leaves, and the system calls that it makes.
struct FaultBench {
    let scenario: Scenario
    let calls: [SystemCall]
    let folder: TemporaryFolder
    private let undisturbed: Trial
    let user: [String]

    private static let script = URL(filePath: #filePath).appending(path: "../trial.sh").standardizedFileURL.path

    /// The common part of the homes of all scenarios, prepared once.
    private static let base = Result { () throws -> String in
        let folder = try TemporaryFolder.untilExit(inMemory: true)
        let prepared = try run("base", [], in: folder, [folder.path("base")])
        try #require(prepared.status == 0, "\(prepared.text)\(prepared.errorText)")
        return folder.path("base")
    }

    /// Prepares the home folder.
    ///
    /// - Parameter user: the command that runs each trial as another user; empty for the same user.
    init(_ scenario: Scenario, as user: [String] = []) throws {
        self.scenario = scenario
        self.user = user
        folder = try TemporaryFolder(inMemory: true)
        if !user.isEmpty {
            try FileManager.default.setAttributes([.ownerAccountID: Surroundings.otherUser], ofItemAtPath: folder.path)
        }
        // Another user cannot read the common home, and so prepares one of its own.
        let base = try user.isEmpty && scenario != .keychainFirst ? [Self.base.get()] : []
        let words = [folder.path("template"), scenario.rawValue]
        let prepared = try Self.run("prepare", user, in: folder, words + base)
        try #require(prepared.status == 0, "\(prepared.text)\(prepared.errorText)")
        let options = Strace.command + ["-f", "-qq", "-y", "-o", folder.path("trace"), "-e", SystemCall.traced]
        let outcome = try Self.run("try", user, in: folder, words + options)
        undisturbed = Trial(outcome.text)
        try #require(undisturbed.status == 0 && undisturbed.isChanged, "\(outcome.text)\(outcome.errorText)")
        try #require(undisturbed.faults.isEmpty, "\(undisturbed.faults)")
        calls = SystemCall.all(
            in: String(decoding: try folder.read("trace"), as: UTF8.self), below: folder.path("home"))
    }

    /// Runs a step of `trial.sh`, and removes the home folder.
    static func run(
        _ step: String, _ user: [String], in folder: TemporaryFolder, _ words: [String], free: Int? = nil
    ) throws -> ExternalProgram.Outcome {
        defer {
            KernelKeys.remove(ofKeychainsBelow: folder.path("home"))
            try? FileManager.default.removeItem(atPath: folder.path("home"))
        }
        let program = try ProcessInfo.processInfo.environment["KCBACKUP"] ?? ExternalProgram.built("kcbackup")
        var environment = [
            "HOME": folder.path("home"), "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        ]
        var command = user + ["bash", script, step, program] + words
        if let free {
            environment["FREE"] = String(free)
            let mount = #"mkdir -p "$HOME" && mount -t tmpfs -o size=4m,mode=700 none "$HOME" && exec "$@""#
            command = ["unshare", "-m", "bash", "-c", mount, "--"] + command
        }
        return try ExternalProgram.run(
            command[0], Array(command.dropFirst()), environment: environment, in: folder.path)
    }

    /// Runs the command with a fault at one call, and returns what is wrong afterwards.
    func violations(of call: SystemCall, _ action: Action) throws -> [String] {
        let expression = "inject=\(call.name):\(action.words):when=\(call.number)"
        // Not with '--seccomp-bpf', under which some systems deliver no signal.
        let options = ["-f", "-qq", "-o", folder.path("injected"), "-e", "trace=\(call.name)", "-e", expression, "--"]
        let trial = try trial(under: Strace.command + options)
        var couldNotRemove = false
        if case .error = action { couldNotRemove = ["unlink", "unlinkat", "rmdir"].contains(call.name) }
        var found = violations(trial, couldNotRemove: couldNotRemove)
        if try !wasInjected(action, trial) { found.append("the fault did not happen") }
        // The remains of the replaced file are the clear text, or open with the old keys, so that is told.
        let tells: [Scenario] = [.protect, .unprotect, .rekeyFile, .importRemove]
        let isUnsure = call.synchronizes || couldNotRemove && tells.contains(scenario)
        if case .error = action { found += statusViolations(trial, isUnsure: isUnsure, expected: [74]) }
        return found.map { "\(scenario.rawValue), \(expression)\n  \(call)\n  \($0)" }
    }

    /// True if strace carried out the fault, without which a trial says nothing.
    private func wasInjected(_ action: Action, _ trial: Trial) throws -> Bool {
        switch action {
        case .kill: trial.status == 128 + SIGKILL
        case .error: String(decoding: try folder.read("injected"), as: UTF8.self).contains("(INJECTED)")
        }
    }

    /// Runs the command on a disk with only `free` KiB left.
    ///
    /// - Returns: what is wrong, and whether the space was enough.
    func violations(onADiskWith free: Int) throws -> (found: [String], isDone: Bool) {
        let trial = try trial(under: [], free: free)
        let found = violations(trial) + statusViolations(trial, isUnsure: false, expected: [74])
        return (found.map { "\(scenario.rawValue), with \(free) KiB left\n  \($0)" }, trial.status == 0)
    }

    /// Runs the command under `prefix`.
    func violations(under prefix: [String]) throws -> [String] {
        let trial = try trial(under: prefix)
        let found = violations(trial) + statusViolations(trial, isUnsure: false, expected: nil)
        return found.map { "\(scenario.rawValue), \(prefix.joined(separator: " "))\n  \($0)" }
    }

    private func trial(under prefix: [String], free: Int? = nil) throws -> Trial {
        let words = [folder.path("template"), scenario.rawValue] + prefix
        let outcome = try Self.run("try", user, in: folder, words, free: free)
        let trial = Trial(outcome.text)
        try #require(trial.status != nil, "\(outcome.text)\(outcome.errorText)")
        return trial
    }

    /// The violations in the state that a trial left.
    ///
    /// - Parameters:
    ///   - couldNotRemove: true if a removal failed. Then a lock file may stay, which the program only reports, and a
    ///     hidden folder, which the next restore into a new keychain removes.
    ///   - isPowerLost: true after a loss of power. Then a lock file may be missing, which is empty and made when needed, and
    ///     removals may have become durable in another order, so that a record stays without its state.
    func violations(_ trial: Trial, couldNotRemove: Bool = false, isPowerLost: Bool = false) -> [String] {
        var violations = trial.faults
        if trial.result != undisturbed.result {
            violations.append("it left\n  \(trial.result.joined(separator: "\n  "))")
        }
        let more = trial.left.filter { entry, count in
            count > undisturbed.left[entry, default: 0]
                && !(couldNotRemove && (entry.contains(".lock f ") || entry.contains("/.restoring-")))
                // A state that was brought back is removed last; until then it is the present one, which is passed over.
                && !(scenario == .undo && entry.contains(Self.state))
        }
        let missing = undisturbed.left.filter { entry, count in
            count > trial.left[entry, default: 0] && !(isPowerLost && entry.contains(".lock f "))
                // A store that failed has no folder for states if none was ever kept.
                && !(scenario == .restoreHome && Self.emptyStates.contains { entry.hasPrefix($0) })
        }
        if !more.isEmpty { violations.append("a later run leaves \(more.keys.sorted())") }
        if !missing.isEmpty { violations.append("a later run misses \(missing.keys.sorted())") }
        func count(_ ending: String) -> Int { trial.left[Self.state + ending + " f 600", default: 0] }
        if count(".written") > count(""), !isPowerLost { violations.append("a record is left without its state") }
        return violations
    }

    /// The violations in the exit status after a call failed.
    ///
    /// - Parameters:
    ///   - isUnsure: true if the changes may not be durable.
    ///   - expected: the statuses that describe the failure; nil for any error status but "internal".
    private func statusViolations(_ trial: Trial, isUnsure: Bool, expected: [Int32]?) -> [String] {
        guard let status = trial.status else { return [] }
        let words = trial.output.joined(separator: "\n  ")
        if status == 0 {
            // The archives are intact even if the catalogue cannot record the trial.
            let isTold = scenario == .drill && words.contains("is not noted")
            return trial.isChanged || isTold ? [] : ["it ended with 0 and did nothing\n  \(words)"]
        }
        var violations: [String] = []
        // Each store of a home fails by itself, and the archive of 'login' alone has something to restore.
        let isOfOther =
            scenario == .restoreHome && (words.contains("'homes/second-") || words.contains("'homes/home-files-"))
        if trial.isChanged, !isUnsure, !isOfOther {
            violations.append("it ended with \(status) although it was done\n  \(words)")
        }
        let known = expected ?? Self.statuses
        if !known.contains(status) {
            violations.append("it ended with \(status), which is none of \(known)\n  \(words)")
        }
        if !words.contains("kcbackup: error: ") { violations.append("it gave no reason") }
        return violations
    }

    /// The kept states of a keychain, as `trial.sh` names them.
    private static let state = ".local/share/kcbackup/undo/KEYCHAIN/STATE"
    private static let emptyStates = [
        ".local/share/kcbackup/undo/KEYCHAIN d ", ".local/share/kcbackup/undo/KEYCHAIN/.lock f ",
    ]

    /// Every error status but "internal".
    private static let statuses: [Int32] = [3, 4, 10, 11, 12, 13, 14, 16, 18, 64, 74]

    enum Action: Sendable {
        case kill
        case error(String)

        var words: String {
            switch self {
            case .kill: "signal=KILL"
            case .error(let name): "error=\(name)"
            }
        }
    }
}

/// The output of `trial.sh`.
struct Trial {
    let status: Int32?
    let isChanged: Bool
    let faults: [String]
    let output: [String]
    let result: [String]
    /// The files that are left, with the number of those that have the same name without what differs in each run.
    let left: [String: Int]

    init(_ text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        func all(_ key: String) -> [String] {
            lines.filter { $0.hasPrefix(key + " ") }.map { String($0.dropFirst(key.count + 1)) }
        }
        status = all("STATUS").first.flatMap { Int32($0) }
        isChanged = all("STATE") == ["changed"]
        faults = all("FAULT")
        output = all("OUTPUT")
        result = all("RESULT")
        left = Dictionary(
            uniqueKeysWithValues: all("LEFT").map { line in
                let parts = line.split(separator: " ", maxSplits: 1)
                return (String(parts[1]), Int(parts[0]) ?? 0)
            })
    }
}
