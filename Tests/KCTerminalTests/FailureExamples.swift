import KCAgeEncryption
import KCAsking
import KCBackupArchive
import KCBackupCatalogue
import KCBackupEngine
import KCBackupJobs
import KCBackupTasks
import KCByteStreams
import KCConsole
import KCCryptography
import KCDeviceIdentity
import KCFileProtection
import KCFleet
import KCFleetIndex
import KCForeignReader
import KCHomeFiles
import KCItemSources
import KCKernelKeyring
import KCKeychainKeys
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCQRCodes
import KCRemotes
import KCSandbox
import KCSecretService
import KCSecurityTokens
import KCStoreTasks

@testable import KCFleetCommand
@testable import KCProtectCommand
@testable import KCTerminal

/// A failure of each kind.
enum FailureExamples {
    /// The types whose every case must be among the examples, with the files that declare them.
    static let types: [(type: String, file: String)] = [
        ("CommandLineProblem", "Programs/KCTerminal/CommandLine/CommandLineProblem.swift"),
        ("SecretProblem", "Tasks/KCAsking/SecretQuestion.swift"),
        ("TerminalFailure", "Base/KCConsole/Terminal.swift"),
        ("Problem", "Base/KCByteStreams/FileFailure.swift"),
        ("Kind", "Base/KCByteStreams/StreamFailure.swift"),
        ("LocalKeychainFailure", "Keychain/KCLocalKeychains/LocalKeychainFailure.swift"),
        ("SecretServiceFailure", "Importers/KCSecretService/SecretServiceFailure.swift"),
        ("HomeFailure", "Importers/KCHomeFiles/HomeContents.swift"),
        ("KeychainStoreError", "Keychain/KCKeychainStore/KeychainStoreError.swift"),
        ("EscrowProblem", "Keychain/KCKeychainKeys/EscrowKey.swift"),
        ("TokenProblem", "Keychain/KCKeychainKeys/TokenKey.swift"),
        ("TokenFailure", "Device/KCSecurityTokens/TokenFailure.swift"),
        ("ItemProblem", "Keychain/KCKeychainModel/ItemProblem.swift"),
        ("Problem", "Importers/KCItemSources/ItemLines.swift"),
        ("DeviceKeyFailure", "Device/KCDeviceIdentity/DeviceKeyFailure.swift"),
        ("TrustedDevicesFailure", "Device/KCDeviceIdentity/TrustedDevices.swift"),
        ("KitProblem", "Tasks/KCBackupTasks/KitProblem.swift"),
        ("ProtectionProblem", "Keychain/KCFileProtection/ProtectedFile.swift"),
        ("QRCodeFailure", "Formats/KCQRCodes/QRCode.swift"),
        ("AgeFailure", "Formats/KCAgeEncryption/AgeFailure.swift"),
        ("PluginFailure", "Formats/KCAgeEncryption/PluginHost.swift"),
        ("ArchiveFailure", "Archive/KCBackupArchive/ArchiveFailure.swift"),
        ("RestoreRefusal", "Backup/KCBackupEngine/Bring.swift"),
        ("ForeignFailure", "Importers/KCItemSources/ForeignFailure.swift"),
        ("Problem", "Importers/KCForeignReader/ReaderFailure.swift"),
        ("JobFailure", "Tasks/KCBackupJobs/JobFailure.swift"),
        ("JobFinding", "Tasks/KCBackupJobs/JobFinding.swift"),
        ("CatalogueFailure", "Backup/KCBackupCatalogue/CatalogueFailure.swift"),
        ("CryptographyFailure", "Base/KCCryptography/LibCrypto.swift"),
        ("ChipFailure", "Base/KCCryptography/ChipFailure.swift"),
        ("RemoteFailure", "Backup/KCRemotes/RemoteFailure.swift"),
        ("FleetProblem", "Programs/KCFleetCommand/FleetExplanations.swift"),
        ("FleetListFailure", "Backup/KCFleet/FleetLists.swift"),
    ]

    static let device = DeviceID(publicKey: [UInt8](repeating: 0, count: 32))
    private static let uuid = ItemUUID(high: 0x0b1b_25a8_d837_4f51, low: 0xa693_4442_d2b0_4834)
    private static let token: TokenName = {
        guard let name = TokenName("blue") else { preconditionFailure("the example is no name") }
        return name
    }()
    private static let missing = FileFailure("passcode", .notFound)
    private static let item: Item = {
        let draft = ItemDraft(itemClass: .genericPassword, uuid: uuid)
        do {
            return try draft.completed(now: .reference, secretSize: nil)
        } catch {
            preconditionFailure("the example is no item: \(error)")
        }
    }()

    private static let lockedOfSeveral = Failure.passcodeOfOne(
        .refused(.jobWithoutPasscode(job: "nightly", PasscodeNeeded(keychain: "login", .locked))), .backup)
    private static let keyringOfSeveral = Failure.passcodeOfOne(.secretService(.somethingLocked), .keyring)
    private static let unaskedOfSeveral = Failure.passcodeOfOne(
        .secret(.noSource(.passcode(keychain: "login"), .passcode)), .move)

    static let all: [Failure] =
        commandLines.map { .commandLine($0, command: "kcbackup item list") } + [.unforeseen(type: "SomeError")]
        + [.commandLine(.surplus(2), command: "kcbackup item add")]
        + [.commandLine(.surplus(1), command: "kcbackup item delete")]
        + [.commandLine(.unknownOption("--port"), command: "kcbackup item add")]
        + [.argumentsMissing] + usage.map { .usage($0) } + refusals.map { .refused($0) } + secrets.map { .secret($0) }
        + terminal.map { .terminal($0) } + files.map { .file($0) }
        + streams.map { .stream(StreamFailure(.reading, $0), path: "laptop.kcb") }
        + [.output(StreamFailure(.writing, .system(28))), .output(StreamFailure(.writing, .system(9)))]
        + [.temporaryFolder(.stream(StreamFailure(.writing, .system(28)), path: nil), path: "/tmp")]
        + [.full(.stream(StreamFailure(.writing, .system(28)), path: nil), trash: "backups/.trash")]
        + [.notKept(.stream(StreamFailure(.writing, .system(28)), path: nil)), .kitNotEntered(.file(missing))]
        + [
            lockedOfSeveral, keyringOfSeveral, unaskedOfSeveral,
            .ofState(
                .keychain(.damaged("it is not as it was kept"), name: nil), state: "20261121T030000.000000Z",
                of: "login"),
            .ofState(
                .archive(.notAnArchive, path: "undo/20261121T030000Z.kcb"), state: "20261121T030000Z",
                of: "secret-service:"),
        ]
        + desktops.map { .secretService($0) }
        + [0, 120].flatMap { written -> [Failure] in
            [.serviceEnded, .interrupted].map { .brokenOff(.secretService($0), written: written) }
        }
        + locals.map { .local($0) }
        + KeyringHint.allCases.map { .noKeychain(name: "login", $0) }
        + [
            .misnamed("secret-service", .keyring("secret-service:")),
            .misnamed("Login", .keychain("login")), .misnamed("login.keyring", .keyringFile("login.keyring")),
        ]
        + keychains.map { .keychain($0, name: "login") } + items.map { .item($0) }
        + imports.map { .importLine(3, $0) } + devices.map { .device($0) } + trust.map { .trust($0) }
        + tokens.map { .token($0) }
        + ages.map { .age($0, path: "restore-key.txt") } + archives.map { .archive($0, path: "laptop.kcb") }
        + restores.map { .restore($0, path: "laptop.kcb") } + foreign.map { .foreign($0, path: "logins.csv") }
        + readers.map { .reader(ReaderFailure($0, reading: .bitwarden), path: "vault.json") }
        + catalogues.map { .catalogue($0, job: nil) } + jobs.map { .job($0) }
        + findings.map { .found($0) }
        + cryptography.map { .cryptography($0) } + remotes.map { .remote($0) }
        + kits.map { .kit($0) }
        + [
            .home(.tooManyFiles(100_000)), .home(.tooLarge(256 << 20)), .home(.changedMeanwhile("~/.netrc")),
            .home(.notReplaceable("~/.netrc", nil)), .home(.notReplaceable("~/.netrc", .otherOwner)),
            .home(.inTheWay(of: "~/.netrc", count: 1)), .home(.inTheWay(of: "~/.netrc", count: 3)),
            .home(.needsRoot("/etc/credstore")),
        ]

    private static let kits: [KitProblem] = [
        .unattended, .mistyped(times: 20), .comment, .tooMany(limit: 100), .otherKey(kits: 2), .unknown,
        .alreadyRetired(fingerprint: "3f9a-01bc"), .inspecting(fingerprint: "3f9a-01bc"), .severalKeys,
        .sheetAsIdentity(path: "kit.txt"),
        .otherStrength(fingerprint: "3f9a-01bc", isPostQuantum: true),
        .otherStrength(fingerprint: "3f9a-01bc", isPostQuantum: false),
        .otherStrengthOfJobs(["nightly"], isPostQuantum: true, othersFit: false),
        .otherStrengthOfJobs(["desk", "nightly"], isPostQuantum: false, othersFit: true),
        .opensMetadataAlone(archive: "laptop.kcb"),
        .unencrypted(archive: "laptop.kcb"),
        .code(.libraryMissing("libqrencode.so.4")), .code(.refused(12)),
        .list(.altered(path: "recovery-kits-KC-…")),
        .list(.otherFormat(path: "recovery-kits-KC-…")),
    ]

    private static let commandLines: [CommandLineProblem] = [
        .noCommand(["item", "lits"], meant: "list"), .unknownOption("--jsno", meant: "--json"),
        .unknownLetters(beginning: "-T"), .takesNoValue("--json"), .noValue("--keychain", value: "name"),
        .notASource(.passphrase),
        .wrongValue(of: "--class", form: "one of generic, internet"), .missing("<device-id>"), .surplus(1), .surplus(2),
        .other("the command line cannot be understood"), .beforeDashes,
    ]

    /// The explanations of all examples.
    static var explanations: [Explanation] { all.map(\.explanation) + companions.map(\.explanation) }

    private static let desktops: [SecretServiceFailure] = [
        .libraryMissing("libsecret-1.so.0"), .noBus(lookedAt: ["/run/user/1000/bus"]),
        .foreignBus(path: "/run/user/1000/bus", owner: 1_000), .notASocket(path: "/run/user/1000/bus"),
        .busRefuses(address: "unix:path=/run/user/1000/bus", reason: "Connection refused"),
        .busSilent(address: "unix:path=/run/user/1000/bus"), .busElsewhere(address: "tcp:host=example.org,port=12434"),
        .noService,
        .serviceDoesNotStart(reason: "Process exited with status 1"), .serviceEnded, .noAnswer, .sessionNotEncrypted,
        .locked(["Login"]), .somethingLocked, .changedMeanwhile, .asksFirst(.deleting), .notDone(.writing),
        .notSent(.writing, reason: "Message too long"), .lockedTarget(["Login", "Work"]),
        .noCollection("Work"), .noCollections, .severalCollections("Work"), .noDefaultCollection,
        .collectionMissing("Work"), .passwordNotTaken, .wrongPassword(collection: "Work"), .promptDismissed,
        .request(.writing, name: "org.freedesktop.DBus.Error.Failed", message: "no space left"), .malformed(.secrets),
        .interrupted,
    ]

    private static let jobs: [JobFailure] = [
        .invalidName, .notFound("nightly"), .exists("nightly"), .damaged(job: "nightly", path: "jobs/nightly.job"),
        .recordDamaged(job: "nightly", path: "jobs/nightly.last"), .otherDevice(job: "nightly", device),
        .otherFormat(job: "nightly"), .severalLines,
        .folderElsewhere(job: "nightly", folder: "backups", was: "disk/backups", now: "stick/backups"),
        .noBackups(job: "nightly", folder: "backups"), .copiesGone(job: "nightly", to: "nas:backups", copies: 3),
        .copiesLost(to: "nas:backups", copies: 1, last: "login.kcb", missing: 1),
        .copiesLost(to: "nas:backups", copies: 16, last: "login.kcb", missing: 0),
        .notCopiedYet(archive: "login.kcb"), .incompleteCopy(archive: "login.kcb"),
        .receiptNumberLost(path: "/home/ada/.local/share/kcbackup/receipt-sequence-KC-ABCD-EFGH-IJKL-MNOP-QRST"),
        .copiesGone(job: "nightly", to: "/media/usb", copies: 1), .notOfCron(time: "Mon..Fri"),
        .changesNotOfCron(job: "nightly"), .needsUnit(job: "nightly", credential: "passcode"),
        .unsafeVariable(
            "RCLONE_CONFIG", path: "/srv/rclone/rclone.conf", FileFailure("/srv/rclone", .sharedFolder(mode: 0o777))),
        .unwritable(.controlCharacter("/mnt/back\nups"), isCrontab: false),
        .unwritable(.backslash("/mnt/back\\ups"), isCrontab: true),
    ]

    private static let findings: [JobFinding] = [
        .noLinger, .notDrilled(folder: "backups", since: "2026-01-01", archive: "backups/login.kcb", needsKey: true),
        .littleRoom(folder: "backups", free: 1_000_000, wanted: 20_000_000),
        .identityBesideArchives(path: "backups/key.txt"),
        .noCredential("door", path: "/home/ada/.config/kcbackup/door", isEncrypted: false),
        .noCredential("door", path: "/etc/kcbackup/door", isEncrypted: true),
        .otherService(
            job: "nightly", path: "/home/ada/.config/systemd/user/kcbackup-nightly.service", isOfSystem: false),
        .otherService(job: "nightly", path: "/etc/systemd/system/kcbackup-nightly.service", isOfSystem: true),
        .unsafeProgram(
            "/opt/bin/kcbackup", FileFailure("/opt/bin/kcbackup", .notFound), job: "nightly",
            service: "/etc/systemd/system/kcbackup-nightly.service", isOfSystem: true),
        .unsafeProgram(
            "/opt/bin/kcbackup", FileFailure("/opt/bin", .sharedFolder(mode: 0o777)), job: "nightly",
            service: "/home/ada/.config/systemd/user/kcbackup-nightly.service", isOfSystem: false),
        .programNotFound(
            "rclone", folder: "/home/ada/bin", isShared: false, job: "nightly",
            service: "/home/ada/.config/systemd/user/kcbackup-nightly.service", isOfSystem: false),
        .programNotFound(
            "rclone", folder: "/opt/bin", isShared: true, job: "nightly",
            service: "/home/ada/.config/systemd/user/kcbackup-nightly.service", isOfSystem: false),
        .filesMissing(
            job: "nightly", HomeFilesMissing(first: "~/.ssh", reason: .left(.link), count: 1, canBeAccepted: true)),
        .filesMissing(
            job: "nightly",
            HomeFilesMissing(
                first: "~/.ssh", reason: .unread(.file(FileFailure("/home/ada/.ssh", .system(13, doing: "opening")))),
                count: 2, canBeAccepted: false)),
    ]

    private static let catalogues: [CatalogueFailure] = [
        .altered(folder: "backups"), .otherFormat(folder: "backups"), .folderGone(folder: "backups", archives: 3),
        .folderElsewhere(folder: "backups", archives: 3, was: "backups", now: "stick/backups"),
        .folderMissing(folder: "backups"),
        .switches(folder: "backups", .mode(was: .encrypted)), .switches(folder: "backups", .keys(lost: 1, added: 1)),
        .switches(folder: "backups", .otherKeychain(was: ["login"])),
        .switches(folder: "backups", .replaced(series: "login")),
        .switches(folder: "backups", .copied(series: "login", place: nil)), .switches(folder: "backups", .oneOfAll),
        .shrunk(
            Shrinkage(
                series: "login", before: 85, now: 12, goneClasses: [.internetPassword],
                goneGroups: ["com.example.bank"])),
        .shrunk(
            Shrinkage(
                series: "home-files", before: 7, now: 2, unread: 2, unreadNames: ["~/.ssh", "~/.netrc"], left: 1)),
        .unread(path: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb"), .vanished(series: "work"), .noRule,
        .notWhole(name: "login-KC-ABCDEFGH-20261121T030000Z.kcb"), .nothingInTrash(folder: "backups"),
        .inTrash(path: "backups/.trash/login-KC-ABCDEFGH-20261121T030000Z.kcb"),
        .trashIsNoFolder(path: "backups/.trash"),
        .missing(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb"),
        .replaced(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb", .archive),
        .replaced(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb", .keys),
        .replaced(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb", .origin),
        .unclearNewest(folder: "nas:backups"), .severalDevices(folder: "backups", ["KC-ABCDEFGH", "KC-IJKLMNOP"]),
        .severalSeries(folder: "backups", ["login", "work"]),
        .renamed(path: "nas:backups/login-KC-ABCDEFGH-20261121T030000Z.kcb"),
        .replaced(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb", .content),
        .replaced(name: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb", .keychain), .noArchives(folder: "backups"),
        .unknownFolder("backups"), .file(FileFailure("backups", .busy)),
        .cryptography(.library("HMAC")),
    ]

    private static let remotes: [RemoteFailure] = {
        guard let file = RemoteLocation("nas:backups/laptop.kcb"), let host = RemoteLocation("sftp:nas:backups"),
            let disk = RemoteLocation(destination: "/media/usb")
        else { return [] }
        return [
            .notInstalled, .noSftp, .unusableTemporaryFolder("/tmp/[a]"), .notStarted(13), .needsRclone(host),
            .unknownHost(host), .denied(host, message: "Permission denied (publickey)"), .unclear(host),
            .unquotable("sftp:nas:backups/[a].kcb"), .unknownRemote("nas"),
            .unreadableConfiguration("unable to decrypt configuration"), .unusableName("a\nb.kcb"),
            .unpinnedHost(remote: "nas"), .missing(disk), .denied(file, message: "AccessDenied"),
            .unreachable(file, message: "dial tcp: connection refused"), .missing(file),
            .exists(file), .busy(file), .leaving(file, after: .failed(file, message: "no space left on device")),
            .differs(file),
            .changed(file), .tooMany(file, limit: 100_000), .unclear(file), .failed(file, message: "SSH_FX_FAILURE"),
        ]
    }()

    private static let indexes: [FleetIndexFailure] = [
        .notFound("fleet.index"), .notAnIndex("fleet.index"), .newerFormat("fleet.index", found: 2, known: 1),
        .busy("fleet.index"), .damaged("fleet.index"), .diskFull("fleet.index"), .readOnly("fleet.index"),
        .file(FileFailure("fleet.index", .exposed(mode: 0o644))), .library("fleet.index", code: 1), .interrupted,
    ]

    private static let fleets: [FleetProblem] = {
        guard let folder = RemoteLocation("nas:fleet") else { return [] }
        let lists: [FleetListFailure] = [
            .inventoryLine(3), .age(5), .listedTwice(4), .namedTwice(4), .noMachine, .signerLine(1), .signerOption(2),
            .notText,
        ]
        return [
            .notARemote, .noReceipts(folder, days: 2), .stale(["laptop-17", "desk-3"], absent: 1),
            .stale((1...7).map { "laptop-\($0)" }, absent: 7), .shrunk(["laptop-17"]),
        ] + lists.map { .list($0, path: "machines.txt") }
    }()

    private static let protections: [ProtectionProblem] = [
        .ownFile("device.key"), .temporaryName(".kcbackup-0k3v9w2m1x7qa.tmp"),
        .severalNames("diary", isEncrypted: false), .severalNames("diary.age", isEncrypted: true), .inUse("diary"),
        .changed("diary"), .changedBesideClear("diary.age", clear: "diary"),
        .notRemoved(FileFailure("diary.age", .system(13, doing: "removing")), clear: "diary"),
        .nameTaken("diary.age"), .alreadyProtected("diary.age"),
        .encryptedOtherwise("diary", .none, keychain: nil),
        .encryptedOtherwise("diary", .keychain(.complete), keychain: "work"), .notEncrypted("diary.txt"),
        .notProtected("diary.age"), .keyElsewhere("diary.age"),
    ]

    /// The errors of companions.
    static let companions: [any Explained] =
        fleets + indexes + protections + [
            CompanionProgram.Replaceable(
                "/opt/libexec/kcbackup/kcbackup-fleet", FileFailure("/opt/libexec", .sharedFolder(mode: 0o777))),
            CompanionProgram.Replaceable(
                "/opt/kcbackup-read", FileFailure("/opt/kcbackup-read", .exposed(mode: 0o775))),
            CompanionProgram.Replaceable("/opt/kcbackup-read", FileFailure("/opt/kcbackup-read", .foreignOwner)),
        ]

    private static let usage: [UsageProblem] = [
        .empty(.output), .together(.passcode, .noPasscode), .onlyForChip(.confirm), .needs(.json, .output),
        .readTwice("-"), .recipientForBoth, .notOfFile(.escrow),
        .deviceAlone(.keychain), .needsHome(.acceptMissing), .passcodeOfOne(of: ["login", "work"], for: .files),
        .passcodeOfOne(of: ["login", "work"], for: .backup), .passcodeOfOne(of: ["login", "work"], for: .restore),
        .passcodeOfOne(of: ["login", "work"], for: .move),
        .malformed(.set, form: "NAME=VALUE or NAME:base64=VALUE"), .needsFile(.password), .notAKeychain,
        .desktopKeyring, .areFiles(.home), .areFiles(.credentials), .notOfHome(.passcode), .needsDesktop(.skipLocked),
        .notOfDesktop(.escrow),
        .attributeTwice(.svce), .noCondition,
        .severalSecrets(2, ofEveryCollection: true), .severalSecrets(2, ofEveryCollection: false), .deviceID,
        .deviceOrArchive,
        .noRestoreKey(), .noRestoreKey(.newPassphrase), .emptyArchive, .ambiguousPlace("nas:x"),
        .keychainPrefix("keychain:login", keychain: "login"), .emptyFile,
        .noSetting(use: "'--lock-after TIME'"), .comparesOne, .needsFolder,
        .notUnattended(.passphrase), .notUnattended(.change), .fileForFolder("laptop.kcb"),
        .fileAndFolder("laptop.kcb", "backups"), .fileAndFolder("laptop.kcb", "nas:backups"), .undoOfItems,
        .needsTerminal(.suggest), .notOfFormat(.password, "csv"), .opensNothing(.password, path: "logins.csv"),
        .notAStandardStore, .misnamed("secretservice:", .keyring("secret-service:")),
        .twoStores(keychain: "login", .bothHaveItems),
        .twoStores(keychain: "login", .keychainIsEmpty),
        .twoStores(keychain: "login", .desktopIsEmpty), .notOfRemote(.rebuild),
        .unwritable(.controlCharacter("/mnt/back\nups"), isCrontab: false),
        .unwritable(.backslash("/mnt/back\\ups"), isCrontab: true),
    ]

    private static let earlyDate = Timestamp(microseconds: -43_200_000_000) ?? .reference

    /// The need of a keychain for which the given passcode is not meant.
    private static let othersPasscode: PasscodeNeeded = {
        var needed = PasscodeNeeded(keychain: "login", .locked)
        needed.canBeGiven = false
        return needed
    }()

    private static let refusals: [Refusal] = [
        .explained(Explanation(.io, "the last run of job 'nightly', of 2026-11-21 03:00:00, was killed")),
        .noKeychains(isDesktopRunning: true), .jobRuns("nightly"),
        .newestGone(keychain: "login", path: "backups/login-KC-ABCDEFGH-20261121T030000Z.kcb"),
        .noKeychain(GoneKeychain(name: "login", states: 3, folders: ["backups"])),
        .keychainGone(GoneKeychain(name: "login", states: 3, folders: ["backups"])), .noKeyringForArchive(.noService),
        .unattended(question: "Delete 2 items?", .yes), .unattended(question: "Type the name:", .confirm), .declined,
        .otherName(keychain: "login"), .noKeychainNamed("login", needsPasscode: true),
        .noKeychainNamed("login", needsPasscode: false), .nothingLeaves(2, archiveCarries: true),
        .nothingLeaves(1, archiveCarries: false), .readableCopy(path: "laptop.kcb"), .readableRemote, .pruningRemote,
        .originalUnreadable("backups/a.kcb", "it ends early while reading the container", copy: "nas:backups/a.kcb"),
        .unreadableName(path: "backups/old.kcb"), .emptyArchive(path: "laptop.kcb"),
        .foreignFile(path: "vault.kdbx", title: "KeePass database"),
        .retiredKey(keychain: "login", device: device, path: "device.key.retired"),
        .retiredArchiveKey(device: device, path: "device.key.retired"),
        .passcodeNeeded(PasscodeNeeded(keychain: "login", .locked), job: nil),
        .passcodeNeeded(othersPasscode, job: nil),
        .passcodeNeeded(PasscodeNeeded(keychain: "login", .itemsAsk), job: nil),
        .insideOfData("~/.local/share/kcbackup"), .clock(earlyDate),
        .keyFileExists("key.txt"), .jobWithoutPasscode(job: "nightly", PasscodeNeeded(keychain: "login", .locked)),
        .jobWithoutPasscode(job: "nightly", PasscodeNeeded(keychain: "login", .lockable)),
        .jobWithoutPasscode(job: "nightly", PasscodeNeeded(keychain: "login", .itemsAsk)),
        .itemExists(keychain: "login", selection: "--service forum --account ada"), .nothingToLock(keychain: "scripts"),
        .noArchives(in: "backups"),
        .noEscrowRecord(keychain: "login"), .namesake(of: "home:", keychain: "home-files"),
        .ownFile(path: "laptop.kcb", .keychain), .ownFile(path: "device-key.age", .deviceKey),
    ]
    private static let secrets: [SecretProblem] = [
        .noSource(.passcode(keychain: "login"), .passcode), .notTyped(.escrow), .empty(.passphraseOfNewArchive),
        .noLine(.itemSecret), .holdsNUL(.passphraseOfNewArchive), .tooLong(.passphraseOfNewArchive, limit: 65_536),
        .severalLines(.itemSecret), .differ(.passphraseOfNewArchive), .descriptorClosed(3), .noCredentialsFolder,
        .commandFailed(status: 2), .commandNotStarted(2), .noFile(.passcode(keychain: "login"), path: "passcode"),
        .noFile(.escrowKey, path: "escrow"),
    ]
    private static let terminal: [TerminalFailure] = [.unavailable, .closed, .lineTooLong(limit: 4096), .interrupted]
    private static let files =
        fileProblems.map { FileFailure("laptop.kcb", $0) } + [FileFailure(".git-credentials.lock", .busy)]
    private static let fileProblems: [FileFailure.Problem] = [
        .notFound, .exists, .notFolder, .notRegular, .exposed(mode: 0o644), .foreignOwner, .sharedFolder(mode: 0o1777),
        .foreignFolder(owner: 1_000), .busy, .changed, .displaced(to: "laptop.kcb.3k"),
        .remains(at: ".kcbackup-1a2b3c4d5e6f7.tmp", 5), .noSafeNaming,
        .tooLarge(limit: 65_536),
        .system(28, doing: "writing"), .system(30, doing: "writing"), .system(2, doing: "creating a file in"),
        .system(13, doing: "opening"), .system(1, doing: "replacing"),
    ]
    private static let streams: [StreamFailure.Kind] = [
        .truncated, .malformed("a rule is broken"), .authenticationFailed,
        .limitExceeded("line", found: 20, allowed: 10), .system(5), .library("deflate"),
        .libraryMissing("libarchive.so.13"), .interrupted,
    ]
    private static let locals: [LocalKeychainFailure] = [
        .emptyName, .invalidName, .deviceKeyMissing(keychains: 2), .listsDamaged(path: "keychain-lists"),
        .borrowedRights,
        .file(FileFailure("keychain-lists", .foreignOwner)),
    ]
    private static let keychains: [KeychainStoreError] = [
        .notFound("login.keychain"), .exists("login.keychain"), .notAKeychain(.otherApplication),
        .severalNames("login.keychain"), .foreignJournal("login.keychain-wal"),
        .newerFormat(found: 2, known: 1), .damaged("a row has no UUID"), .otherDevice(device), .busy,
        .locked(.whenUnlocked), .presenceNeeded(.userPresence), .itemsAskForPasscode(2), .wrongPasscode,
        .tooManyAttempts(retryAfter: 40), .passcodeNotSet, .passcodeEmpty,
        .escrow(.none), .escrow(.exists), .escrow(.noPasscode), .escrow(.otherKey), .escrow(.forged),
        .escrow(.malformedLine(3)), .escrow(.noKey),
        .token(.none(token)), .token(.exists(token)), .token(.noPasscode), .token(.full), .token(.otherSecret(token)),
        .token(.forged(token)),
        .duplicateItem, .duplicateUUID(uuid), .itemNotFound, .itemDamaged(uuid), .unchangeable(.cdat),
        .item(.missing(.agrp)), .file(missing), .limit("items", found: 20, allowed: 10), .diskFull, .readOnly,
        .kernelKeys(.full(122)),
        .sqlite(10), .cryptography(.library("scrypt")), .interrupted,
    ]
    private static let items: [ItemProblem] = [
        .unknownAttribute("nope"), .notInClass(.srvr, .genericPassword), .notInClass(.svce, .internetPassword),
        .wrongKind(.port), .missing(.pdmn),
        .unknownAccessibility, .unknownConstraint, .attributeTooLarge(.labl), .attributesTooLarge(2_000_000),
        .secretTooLarge(20_000_000), .tooManyExtra(300), .extraTooLarge, .extraOutOfOrder, .reservedExtra,
        .thisDeviceOnlySynchronizable, .synchronizableAsks,
    ]
    private static let imports: [ItemLines.Problem] = [
        .line(.malformed(MalformedLine("the string does not end", at: 17))), .line(.brokenSeal),
        .line(.secretMissing),
        .tooLong(limit: 10), .sameKey(line: 2), .sameUUID(line: 2),
    ]
    private static let devices: [DeviceKeyFailure] = [
        .notFound(path: "device.key"), .exists(path: "device.key"), .otherMachine(path: "device.key", device: device),
        .damaged(path: "device.key", rule: "it has no key"),
        .exportDamaged(path: "device-key.age", rule: "it has no key"), .file(missing), .cryptography(.library("HKDF")),
        .heldByChip(path: "device.key", device: device), .heldByFile(path: "device.key", device: device),
    ]
    private static let trust: [TrustedDevicesFailure] = [
        .altered(path: "trusted-devices"), .otherFormat(path: "trusted-devices"), .nameNotAllowed, .full(allowed: 400),
        .file(missing),
        .cryptography(.library("HMAC")),
    ]
    private static let plugin: PluginName = {
        guard let name = PluginName("yubikey") else { preconditionFailure("the example is no name") }
        return name
    }()
    private static let plugins: [PluginFailure] = [
        .notFound(folders: ["/usr/local/bin", "/usr/bin", "/home/ada/.local/bin"]),
        .notSafe(FileFailure("/home/ada/.local/bin/age-plugin-yubikey", .exposed(mode: 0o777))),
        .notSafe(FileFailure("/home/ada/.local/bin/age-plugin-yubikey", .foreignOwner)), .notStarted(13),
        .ended(said: "no reader\n"), .ended(said: ""), .misbehaved("it gave a wrong key"),
        .tooMuch(limitInBytes: 16_777_216), .overdue(seconds: 60), .unattended, .reported("wrong PIN"),
    ]
    private static let ages: [AgeFailure] =
        plugins.map { .plugin(plugin, $0) } + [
            .notAnAgeFile, .armored, .malformedArmor("a line is not canonical base 64"), .unsupportedVersion,
            .malformedHeader("a line is too long"),
            .headerTooLarge("stanzas", allowed: 1_000), .headerAuthentication, .noMatchingIdentity(["X25519"]),
            .wrongPassphrase, .notForPassphrase, .workFactorTooHigh(found: 22, allowed: 20), .mixedPassphrase,
            .noRecipients,
            .incompatibleRecipients,
            .malformedRecipient, .unsupportedRecipient(line: 2, kind: "ecdsa-sha2-nistp256"),
            .unsupportedRecipient(line: nil, kind: "ssh-rsa of 1024 bits"),
            .malformedRecipientLine(2),
            .malformedIdentityLine(2), .unsupportedIdentity(line: 2, kind: "AGE-PLUGIN"),
            .sshIdentity(.malformed), .sshIdentity(.unsupported("ecdsa-sha2-nistp256")),
            .sshIdentity(.weak(bits: 1_024)),
            .sshIdentity(.encrypted), .sshIdentity(.cryptography(.randomness)), .noIdentities,
            .identityFileEncoded(isUTF16: true), .identityFileEncoded(isUTF16: false),
            .identityFileNeedsPassphrase, .stream(StreamFailure(.reading, .system(5))),
            .cryptography(.outOfMemory(bytes: 268_435_456)),
        ]
    private static let archives: [ArchiveFailure] = [
        .notRekeyable(.unencrypted), .notRekeyable(.otherDevice),
        .notAnArchive, .newerFormat(found: "2", known: 1),
        .damaged(rule: ArchiveFailure.somethingFollows),
        .damaged(rule: "'secrets.jsonl.gz.age' does not match its checksum"),
        .limit("the line length: 20 where 10 is the limit"), .noPassphraseSet, .wrongPassphrase,
        .wrongPasscode, .passcodeNeeded, .noMatchingIdentity(["X25519", "X25519"], hasPassphrase: false),
        .noMatchingIdentity(["X25519", "p256tag", "X25519"], hasPassphrase: true),
        .noMatchingIdentity(["X25519"], hasPassphrase: true), .keyNeeded(passphraseOpens: true),
        .keyNeeded(passphraseOpens: false), .age(.malformedRecipient), .stream(StreamFailure(.reading, .system(5))),
        .file(missing), .cryptography(.randomness),
    ]
    private static let restores: [RestoreRefusal] = [
        .unencryptedElsewhere(device: device), .unknownOrigin(device: device), .wouldRemoveForBroken(1),
        .wouldRemoveUnread(1), .wouldRemoveUnopened(3), .wouldRemoveAsking(2), .itemsStayBehind(3), .nothingMatches,
        .conflicts(2),
        .cannotWrite(item, .noPasscode),
        .unconfirmed,
    ]
    private static let readers: [ReaderFailure.Problem] = [
        .missing(path: "/usr/libexec/kcbackup/kcbackup-read"),
        .notStarted(path: "/usr/libexec/kcbackup/kcbackup-read", 13),
        .noSandbox(.noLandlock), .stopped(nil), .stopped(.socket), .stopped(.openFile), .stopped(.startProgram),
        .stopped(.trace), .stopped(.signal), .stopped(.memory), .stopped(.other(999)), .crashed(signal: 9),
        .crashed(signal: 11), .ended(status: 1), .overdue, .misbehaved("a text is not UTF-8"),
        .unforeseen(type: "Error"),
    ]

    private static let foreign: [ForeignFailure] = [
        .wrongPassword, .wrongPasswordOrNoKeyFile(orDamaged: false), .wrongPasswordOrKeyFile(orDamaged: false),
        .wrongPasswordOrDamaged, .noKeyOpens("keys of gpg"), .needsKeyFile,
        .damagedKeyFile("its key does not match its hash"),
        .needsFile("SystemKey"),
        .damaged("it ends too early"), .damagedLine(3, "a quotation mark is not closed"),
        .unknownVariant("version 5"), .limit("rounds", found: 20, allowed: 10),
        .refused(title: "a 1Password opvault", hint: "1Password 8 imports it, and exports it as 1PUX, which is read"),
        .own(.archive), .own(.keychain), .own(.deviceKey), .age(hasPassphrase: true), .age(hasPassphrase: false),
        .inUse("Firefox"), .noBrowserKey, .noAppSecret(app: "org.example.App"), .noAppSecret(app: nil),
        .needsProgram("gpg", problem: "it is not installed"), .empty,
        .folderOfFiles(name: "logins.csv", title: "CSV file"), .unknownFormat, .notUTF8(line: 3),
        .unknownColumns, .noSuchColumn("Pasword", columns: ["Site", "Login", "Password"]), .columnTwice("password"),
        .notOfFormat(title: ".netrc file"), .ambiguous(names: ["csv", "netrc"]),
    ]
    private static let tokens: [TokenFailure] = [
        .libraryMissing("libfido2.so.1"), .noToken, .noAccess(path: "/dev/hidraw3"), .noAnswer, .busy, .notTouched,
        .noSecrets, .otherToken, .pinNeeded, .pinNotSet, .wrongPIN(triesLeft: 7), .wrongPIN(triesLeft: nil), .pinPaused,
        .pinBlocked, .otherPresence, .wrongAnswer, .interrupted, .refused(call: "fido_dev_make_cred", code: 0x7f),
    ]
    private static let cryptography: [CryptographyFailure] =
        [
            .authentication, .randomness, .library("scrypt"), .libraryMissing("libzxcvbn.so.0"),
            .unsupportedParameters("key length"),
        ] + chips.map { .chip($0) }
    private static let chips: [ChipFailure] = [
        .libraryMissing("libtss2-esys.so.0"), .absent(path: "/dev/tpmrm0"), .noAccess(path: "/dev/tpmrm0"), .noAnswer,
        .otherChip, .ownerPassword, .disabled, .damaged, .tampered,
        .lockedOut(seconds: 1200), .lockedOut(seconds: nil), .wrongPassword, .countsTooFew(limit: 3), .countedElsewhere,
        .refused(call: "Esys_Create", code: 0x143),
    ]
}
