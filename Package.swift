// swift-tools-version: 6.2
import PackageDescription

// Each target lists the lower ones it may use, and nothing else; `docs/architecture.md` has the same picture in words.
// A C library is imported by exactly one Swift target (checked by StyleTests).

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// How a program for Apple's systems is compiled: the calls with pointers need no `unsafe` there.
let clientSettings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// The settings of a quick compilation: file by file, on all processors, and not optimized.
let quickly: [SwiftSetting] = [
    .unsafeFlags(
        ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental", "-D", "KCBACKUP_QUICK"],
        .when(configuration: .release))
]

/// Which floors `make` compiles quickly, to build, try and test: optimizing these takes longer than it gains.
///
/// A release has everything optimized, and a package that depends on this one must not meet unsafe flags.
let quickFloors: Set =
    Context.environment["KCBACKUP_QUICK"] == nil ? [] : ["Apple", "Backup", "Importers", "Programs", "Tasks"]

/// The libraries of these floors whose tests compute so much that optimizing them pays.
let computing: Set = ["KCBackupEngine", "KCExportFormats", "KCForeignFormats", "KCRecoveryKits"]

func settings(of name: String, in floor: String) -> [SwiftSetting] {
    settings + (quickFloors.contains(floor) && !computing.contains(name) ? quickly : [])
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// A library of the floor whose folder is named.
func library(_ name: String, in floor: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)",
        swiftSettings: settings(of: name, in: floor))
}

func tests(
    _ subject: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    .testTarget(
        name: subject + "Tests",
        dependencies: [.byName(name: subject), "KCTestSupport"] + dependencies,
        exclude: exclude,
        swiftSettings: settings + quickly)
}

/// The decoders that `make fuzz-coverage` drives, as a program for libFuzzer, or as tests that run them a few times.
let fuzzing: Target = {
    let dependencies: [Target.Dependency] = [
        "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCGzipStreams", "KCTarArchive", "KCAgeEncryption",
        "KCKeychainModel", "KCKeychainKeys", "KCKeychainStore", "KCCertificateItems", "KCBackupArchive",
        "KCBackupCatalogue", "KCBackupJobs", "KCRecoveryKits", "KCItemSources", "KCForeignFormats", "KCTestSupport",
    ]
    let path = "Tests/KCFuzzingTests"
    if Context.environment["FUZZER"] == nil {
        return .testTarget(
            name: "KCFuzzingTests", dependencies: dependencies, exclude: ["Fuzzer", "Regressions"],
            swiftSettings: settings + quickly)
    }
    return .executableTarget(
        name: "KCFuzzer", dependencies: dependencies, path: path, exclude: ["Regressions"],
        sources: ["Fuzzer", "Targets"], swiftSettings: settings)
}()

let package = Package(
    name: "kcbackup",
    products: [
        .library(name: "KeychainSecurity", targets: ["KeychainSecurity"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "SAMKeychain", targets: ["SAMKeychain"]),
        .library(name: "SSKeychain", targets: ["SSKeychain"]),
        .executable(name: "kcbackup", targets: ["kcbackup"]),
        .executable(name: "kcbackup-fleet", targets: ["KCFleetCommand"]),
        .executable(name: "kcbackup-protect", targets: ["KCProtectCommand"]),
        .executable(name: "kcbackup-read", targets: ["KCReaderCommand"]),
        .executable(name: "security", targets: ["KCSecurityCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        .systemLibrary(
            name: "CKCArgon2", path: "Sources/Fences/CKCArgon2", pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(
            name: "CKCDeflate", path: "Sources/Fences/CKCDeflate", pkgConfig: "libdeflate",
            providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(
            name: "CKCExpat", path: "Sources/Fences/CKCExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CKCFIDO2", path: "Sources/Fences/CKCFIDO2"),
        .systemLibrary(name: "CKCFiles", path: "Sources/Fences/CKCFiles"),
        .systemLibrary(name: "CKCGCrypt", path: "Sources/Fences/CKCGCrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(
            name: "CKCKeyUtils", path: "Sources/Fences/CKCKeyUtils", pkgConfig: "libkeyutils",
            providers: [.apt(["libkeyutils-dev"])]),
        .systemLibrary(
            name: "CKCLibArchive", path: "Sources/Fences/CKCLibArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CKCLibSecret", path: "Sources/Fences/CKCLibSecret"),
        .systemLibrary(
            name: "CKCLibCrypto", path: "Sources/Fences/CKCLibCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CKCQRencode", path: "Sources/Fences/CKCQRencode"),
        .target(
            name: "CKCMLKEM", path: "Sources/Fences/CKCMLKEM", exclude: ["README.md", "SHA256SUMS", "mlkem-native"],
            sources: ["mlkem.c"], publicHeadersPath: "."),
        .target(
            name: "CKCSandbox", path: "Sources/Fences/CKCSandbox", publicHeadersPath: "."),
        .systemLibrary(
            name: "CKCSQLite", path: "Sources/Fences/CKCSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(name: "CKCSystem", path: "Sources/Fences/CKCSystem"),
        .systemLibrary(name: "CKCTPM2", path: "Sources/Fences/CKCTPM2"),
        .systemLibrary(name: "CKCYAML", path: "Sources/Fences/CKCYAML", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(
            name: "CKCZlib", path: "Sources/Fences/CKCZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CKCZxcvbn", path: "Sources/Fences/CKCZxcvbn", providers: [.apt(["libzxcvbn-dev"])]),

        library("KCSecurityStatus", in: "Apple", []),
        library("KCByteStreams", in: "Base", ["CKCFiles"]),
        library("KCConsole", in: "Base", ["KCByteStreams", "CKCSystem"]),
        library("KCCryptography", in: "Base", ["KCByteStreams", "CKCLibCrypto", "CKCMLKEM"]),
        library("KCSandbox", in: "Base", ["CKCSandbox"]),
        library("KCDeviceIdentity", in: "Device", ["KCByteStreams", "KCCryptography"]),
        library(
            "KCSecurityChip", in: "Device", ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "CKCTPM2"]),
        library("KCSecurityTokens", in: "Device", ["KCByteStreams", "KCCryptography", "CKCFIDO2"]),
        library("KCTarArchive", in: "Formats", ["KCByteStreams", "CKCLibArchive"]),
        library("KCGzipStreams", in: "Formats", ["KCByteStreams", "CKCDeflate", "CKCZlib"]),
        library("KCAgeEncryption", in: "Formats", ["KCByteStreams", "KCCryptography"]),
        library(
            "KCAgePlugins", in: "Formats", ["KCByteStreams", "KCConsole", "KCCryptography", "KCAgeEncryption"]),
        library("KCQRCodes", in: "Formats", ["KCByteStreams", "CKCQRencode"]),
        library("KCSecretShares", in: "Formats", ["KCByteStreams", "KCCryptography"]),
        library("KCKernelKeyring", in: "Base", ["KCByteStreams", "CKCKeyUtils"]),
        library("KCPasscodeStrength", in: "Keychain", ["KCByteStreams", "KCCryptography", "CKCZxcvbn"]),
        library("KCKeychainModel", in: "Keychain", ["KCByteStreams"]),
        library("KCCertificateItems", in: "Keychain", ["KCByteStreams", "KCCryptography", "KCKeychainModel"]),
        library(
            "KCKeychainKeys", in: "Keychain",
            ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel"]),
        library(
            "KCKeychainStore", in: "Keychain",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKernelKeyring", "KCKeychainModel",
                "KCKeychainKeys",
                "CKCSQLite",
            ]),
        library(
            "KCLocalKeychains", in: "Keychain",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCSecurityChip", "KCKeychainModel",
                "KCKeychainKeys",
                "KCKeychainStore",
            ]),
        library(
            "KCFileProtection", in: "Keychain",
            ["KCByteStreams", "KCConsole", "KCCryptography", "KCAgeEncryption", "KCKeychainKeys"]),
        library(
            "KCItemSources", in: "Importers",
            ["KCByteStreams", "KCCryptography", "KCAgeEncryption", "KCKeychainModel"]),
        library(
            "KCItemMatching", in: "Importers",
            ["KCByteStreams", "KCCryptography", "KCKeychainModel", "KCItemSources"]),
        library(
            "KCHomeFiles", in: "Importers", ["KCByteStreams", "KCKeychainModel", "KCItemSources"]),
        library(
            "KCExportFormats", in: "Importers",
            ["CKCArgon2", "KCByteStreams", "KCCryptography", "KCKeychainModel", "KCItemSources"]),
        library(
            "KCForeignFormats", in: "Importers",
            [
                "CKCExpat", "CKCGCrypt", "CKCYAML", "KCByteStreams", "KCCryptography", "KCTarArchive",
                "KCGzipStreams", "KCAgeEncryption", "KCKeychainModel", "KCKeychainStore", "KCCertificateItems",
                "KCItemSources", "KCExportFormats",
            ]),
        library(
            "KCForeignReader", in: "Importers",
            [
                "KCByteStreams", "KCConsole", "KCSandbox", "KCCryptography", "KCAgeEncryption", "KCKeychainModel",
                "KCItemSources",
            ]),
        library(
            "KCSecretService", in: "Importers",
            [
                "KCByteStreams", "KCCryptography", "KCKeychainModel", "KCKeychainKeys", "KCItemSources",
                "KCItemMatching", "CKCLibSecret",
            ]),
        library(
            "KeychainSecurity", in: "Apple",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKernelKeyring", "KCKeychainModel",
                "KCKeychainKeys", "KCKeychainStore",
                "KCLocalKeychains", "KCCertificateItems", "KCSecurityStatus",
            ]),
        library("Security", in: "Apple", ["KeychainSecurity"]),
        library(
            "LocalAuthentication", in: "Apple", ["KCByteStreams", "KCConsole", "KCKeychainModel", "KeychainSecurity"]),
        library("SAMKeychain", in: "Apple", ["KeychainSecurity"]),
        library("SSKeychain", in: "Apple", ["SAMKeychain"]),
        library(
            "KCBackupArchive", in: "Archive",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCTarArchive", "KCGzipStreams",
                "KCAgeEncryption",
                "KCKeychainModel",
            ]),
        library(
            "KCBackupEngine", in: "Backup",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel",
                "KCKeychainKeys", "KCItemSources", "KCItemMatching", "KCBackupArchive",
            ]),
        library(
            "KCBackupCatalogue", in: "Backup",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCBackupArchive",
                "KCBackupEngine",
            ]),
        library(
            "KCItemStores", in: "Backup",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCKeychainKeys",
                "KCKeychainStore", "KCLocalKeychains", "KCItemSources", "KCItemMatching",
                "KCSecretService", "KCHomeFiles", "KCBackupArchive",
                "KCBackupEngine",
            ]),
        library("KCRemotes", in: "Backup", ["KCByteStreams", "KCCryptography"]),
        library(
            "KCFleet", in: "Backup",
            ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCRemotes"]),
        library(
            "KCAsking", in: "Tasks",
            ["KCByteStreams", "KCCryptography", "KCConsole", "KCAgeEncryption", "KCAgePlugins", "KCItemSources"]),
        library(
            "KCStoreTasks", in: "Tasks",
            [
                "KCByteStreams", "KCCryptography", "KCConsole", "KCDeviceIdentity", "KCSecurityTokens",
                "KCKeychainModel", "KCKeychainKeys", "KCKeychainStore", "KCLocalKeychains", "KCSecretService",
                "KCHomeFiles", "KCBackupEngine", "KCItemStores", "KCAsking", "KCAgeEncryption", "KCBackupArchive",
                "KCItemSources", "KCForeignReader", "KCBackupCatalogue", "KCAgePlugins", "KCPasscodeStrength",
                "KCKernelKeyring", "KCFileProtection",
            ]),
        library(
            "KCRecoveryKits", in: "Backup",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCAgeEncryption", "KCQRCodes",
                "KCSecretShares", "KCKeychainModel",
            ]),
        library(
            "KCBackupTasks", in: "Tasks",
            [
                "KCAgeEncryption", "KCAgePlugins", "KCAsking", "KCBackupArchive", "KCBackupCatalogue",
                "KCBackupEngine", "KCByteStreams", "KCConsole", "KCCryptography", "KCDeviceIdentity",
                "KCForeignReader", "KCHomeFiles", "KCItemSources", "KCItemStores", "KCKeychainModel",
                "KCKeychainStore", "KCLocalKeychains", "KCQRCodes", "KCRecoveryKits", "KCRemotes", "KCSecretService",
                "KCStoreTasks",
            ]),
        library(
            "KCBackupJobs", in: "Tasks",
            [
                "KCConsole", "KCAsking", "KCStoreTasks", "KCBackupTasks",
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel",
                "KCKeychainStore", "KCLocalKeychains", "KCItemSources", "KCHomeFiles", "KCForeignReader", "KCSandbox",
                "KCSecretService", "KCBackupArchive", "KCBackupCatalogue", "KCItemStores", "KCRecoveryKits",
                "KCRemotes", "KCFleet",
            ]),
        library(
            "KCReportText", in: "Programs",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCItemSources",
                "KCSecretService", "KCHomeFiles",
                "KCBackupArchive", "KCBackupEngine", "KCBackupCatalogue", "KCBackupJobs", "KCItemStores",
                "KCConsole",
            ]),
        library(
            "KCReportPages", in: "Programs",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCHomeFiles",
                "KCBackupArchive",
                "KCBackupEngine", "KCBackupCatalogue", "KCReportText",
            ]),
        library(
            "KCFleetIndex", in: "Backup",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel",
                "KCKeychainStore", "KCBackupArchive", "KCRemotes", "KCFleet",
            ]),
        library(
            "KCTerminal", in: "Programs",
            [
                "KCAgeEncryption", "KCAgePlugins", "KCAsking", "KCBackupArchive", "KCBackupCatalogue", "KCBackupEngine",
                "KCBackupJobs", "KCBackupTasks", "KCByteStreams", "KCConsole", "KCCryptography", "KCDeviceIdentity",
                "KCFileProtection", "KCForeignReader", "KCSandbox", "KCHomeFiles", "KCItemSources", "KCItemStores",
                "KCKernelKeyring", "KCKeychainKeys", "KCKeychainModel", "KCKeychainStore", "KCLocalKeychains",
                "KCPasscodeStrength", "KCQRCodes", "KCRecoveryKits", "KCRemotes", "KCReportPages", "KCReportText",
                "KCSecretService", "KCSecretShares", "KCSecurityTokens", "KCStoreTasks", "KCGzipStreams",
                argumentParser,
            ]),
        .executableTarget(
            name: "kcbackup",
            dependencies: [
                "KCTerminal", "KCItemStores", "KCAsking", "KCStoreTasks", "KCBackupTasks", "KCBackupJobs", "KCRemotes",
                "KCRecoveryKits", "KCReportText", "KCReportPages", "KCQRCodes", "KCByteStreams", "KCCryptography",
                "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel", "KCKeychainKeys", "KCKeychainStore",
                "KCItemSources", "KCExportFormats", "KCSecretService", "KCHomeFiles", "KCLocalKeychains",
                "KCKernelKeyring", "KCPasscodeStrength", "KCBackupArchive", "KCBackupEngine", "KCBackupCatalogue",
                "KCConsole", "KCSecurityChip", "KCSecurityTokens", argumentParser,
            ],
            path: "Sources/Programs/kcbackup",
            swiftSettings: settings(of: "kcbackup", in: "Programs")),
        .executableTarget(
            name: "KCFleetCommand",
            dependencies: [
                "KCTerminal", "KCBackupTasks", "KCStoreTasks", "KCFleet", "KCFleetIndex", "KCRemotes", "KCReportText",
                "KCReportPages", "KCByteStreams", "KCDeviceIdentity", "KCKeychainModel", "KCKeychainStore",
                "KCLocalKeychains", "KCBackupCatalogue", "KCBackupEngine", "KCCryptography", argumentParser,
            ],
            path: "Sources/Programs/KCFleetCommand", swiftSettings: settings(of: "KCFleetCommand", in: "Programs")),
        .executableTarget(
            name: "KCProtectCommand",
            dependencies: [
                "KCTerminal", "KCAsking", "KCBackupTasks", "KCStoreTasks", "KCFileProtection", "KCReportText",
                "KCAgeEncryption", "KCAgePlugins", "KCByteStreams", "KCConsole", "KCDeviceIdentity", "KCKeychainKeys",
                "KCKeychainModel", "KCKeychainStore", "KCLocalKeychains", "KCBackupArchive", "KCBackupEngine",
                argumentParser,
            ],
            path: "Sources/Programs/KCProtectCommand", swiftSettings: settings(of: "KCProtectCommand", in: "Programs")),
        .executableTarget(
            name: "KCReaderCommand", dependencies: ["KCForeignReader", "KCForeignFormats"],
            path: "Sources/Programs/KCReaderCommand", swiftSettings: settings(of: "KCReaderCommand", in: "Programs")),
        .executableTarget(
            name: "KCSecurityCommand",
            dependencies: [
                "KCSecurityStatus", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKernelKeyring",
                "KCKeychainModel",
                "KCKeychainKeys", "KCKeychainStore", "KCLocalKeychains", "KCCertificateItems", "KCConsole",
            ],
            path: "Sources/Programs/KCSecurityCommand",
            swiftSettings: settings(of: "KCSecurityCommand", in: "Programs")),

        .executableTarget(
            name: "KeychainDemo", dependencies: ["Security"], path: "Samples/KeychainDemo",
            exclude: ["KeychainDemo.entitlements", "output.txt"], swiftSettings: clientSettings),
        .executableTarget(
            name: "KeychainRecipes", dependencies: ["Security"], path: "Samples/KeychainRecipes",
            swiftSettings: clientSettings),
        // Also in a package of its own, which `docs/first-password.md` shows.
        .executableTarget(
            name: "FirstPassword", dependencies: ["Security"], path: "Samples/FirstPassword/Sources/FirstPassword",
            swiftSettings: clientSettings),
        .executableTarget(
            name: "KCConcurrentProgram", dependencies: ["KeychainSecurity"], path: "Tests/KCConcurrentProgram",
            swiftSettings: clientSettings),
        .executableTarget(
            name: "KCTrustProgram", dependencies: ["KeychainSecurity"], path: "Tests/KCTrustProgram",
            swiftSettings: clientSettings),
        .executableTarget(
            name: "KCSealingProgram", dependencies: ["KCByteStreams", "KCDeviceIdentity", "KCSecurityChip"],
            path: "Tests/KCSealingProgram", swiftSettings: clientSettings),
        .executableTarget(
            name: "KCTerminalProgram", dependencies: ["KCByteStreams", "KCConsole"], path: "Tests/KCTerminalProgram",
            swiftSettings: clientSettings),
        .executableTarget(
            name: "KCSandboxProgram", dependencies: ["KCSandbox"], path: "Tests/KCSandboxProgram",
            swiftSettings: clientSettings),
        .executableTarget(
            name: "KCHostileReader", dependencies: ["KCForeignReader", "KCItemSources"], path: "Tests/KCHostileReader",
            swiftSettings: clientSettings),

        fuzzing,
        .target(name: "CKCTestSupport", path: "Tests/CKCTestSupport"),
        .target(
            name: "KCTestSupport",
            dependencies: [
                "CKCTestSupport", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKernelKeyring",
                "KCKeychainModel", "KCSecurityChip", "KCSecurityTokens",
                "KCKeychainStore", "KCLocalKeychains", "KCConsole", "CKCSQLite",
            ],
            path: "Tests/KCTestSupport", exclude: ["age-plugin-scripted"], swiftSettings: settings + quickly),
        .testTarget(name: "KCTestSupportTests", dependencies: ["KCTestSupport"], swiftSettings: settings + quickly),
        tests(
            "KCBackupCatalogue",
            [
                "KCBackupArchive", "KCBackupEngine", "KCByteStreams", "KCCryptography", "KCAgeEncryption",
                "KCDeviceIdentity", "KCKeychainModel", "KCKeychainKeys",
            ]),
        tests("KCSecurityStatus"),
        tests("KCByteStreams"),
        tests("KCCryptography"),
        tests("KCSandbox"),
        tests("KCDeviceIdentity"),
        tests("KCSecurityChip", ["KCByteStreams", "KCCryptography", "KCDeviceIdentity"]),
        tests("KCSecurityTokens", ["KCByteStreams", "KCCryptography"]),
        tests("KCTarArchive"),
        tests("KCGzipStreams"),
        tests("KCQRCodes", ["KCByteStreams"]),
        tests("KCSecretShares", ["KCByteStreams", "KCCryptography"], exclude: ["Vectors"]),
        tests("KCAgeEncryption", ["CKCZlib"], exclude: ["Examples", "Vectors"]),
        tests("KCAgePlugins", ["KCByteStreams", "KCConsole", "KCAgeEncryption"]),
        tests("KCKernelKeyring"),
        tests("KCPasscodeStrength"),
        tests("KCKeychainModel"),
        tests("KCCertificateItems", ["KCByteStreams", "KCCryptography", "KCKeychainModel"]),
        tests("KCKeychainKeys", ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel"]),
        tests("KCFileProtection", ["KCByteStreams", "KCAgeEncryption", "KCKeychainKeys"]),
        tests("KCItemSources", ["KCByteStreams", "KCCryptography", "KCKeychainModel"]),
        tests("KCItemMatching", ["KCByteStreams", "KCItemSources", "KCKeychainModel"]),
        tests("KCSecretService", ["KCKeychainModel"]),
        tests("KCHomeFiles", ["KCByteStreams", "KCItemSources", "KCKeychainModel"]),
        tests("KCExportFormats", ["KCByteStreams", "KCCryptography"]),
        tests(
            "KCForeignFormats",
            [
                "KCByteStreams", "KCCryptography", "KCAgeEncryption", "KCExportFormats", "KCItemSources",
                "KCKeychainModel", "KCSecretService",
            ],
            exclude: ["Fixtures"]),
        tests("KCKeychainStore", ["KCKernelKeyring", "KCKeychainKeys"], exclude: ["Keychains"]),
        tests(
            "KCLocalKeychains",
            ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCKeychainStore"]),
        tests("Security", settings: clientSettings),
        tests(
            "KeychainSecurity",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCKeychainKeys",
                "KCKeychainStore",
                "KCLocalKeychains",
                "KCKernelKeyring", "KCSecurityStatus",
            ],
            exclude: ["Chains", "make-chains.sh"], settings: clientSettings),
        tests(
            "SAMKeychain", ["KCByteStreams", "KCKeychainModel", "KCKeychainStore"], settings: clientSettings),
        tests("SSKeychain", ["SAMKeychain"]),
        tests("LocalAuthentication", ["KCByteStreams", "KCConsole", "KeychainSecurity"], settings: clientSettings),
        tests("KCConsole", ["KCByteStreams"]),
        tests("KCReportText", ["KCByteStreams", "KCConsole"]),
        tests("KCReportPages", ["KCKeychainModel"]),
        tests("KCRemotes", ["KCByteStreams", "KCCryptography"]),
        tests(
            "KCRecoveryKits",
            ["KCByteStreams", "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel"]),
        tests("KCFleet", ["KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel"]),
        tests(
            "KCFleetIndex",
            [
                "KCByteStreams", "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel", "KCKeychainStore",
                "KCBackupArchive", "KCFleet",
            ]),
        .target(
            name: "KCArchiveForgery",
            dependencies: [
                "KCTestSupport", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCTarArchive", "KCGzipStreams",
                "KCAgeEncryption", "KCKeychainModel", "KCBackupArchive",
            ],
            path: "Tests/KCArchiveForgery", swiftSettings: settings + quickly),
        tests(
            "KCBackupArchive",
            [
                "KCArchiveForgery", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCGzipStreams",
                "KCAgeEncryption",
                "KCKeychainModel",
            ]),
        tests(
            "KCBackupEngine",
            [
                "KCArchiveForgery", "KCBackupArchive", "KCAgeEncryption", "KCDeviceIdentity", "KCTarArchive",
                "KCKeychainModel",
                "KCKeychainKeys", "KCKeychainStore", "KCItemSources",
            ],
            exclude: ["Archives"]),
        tests(
            "KCItemStores",
            [
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKeychainModel", "KCKeychainStore",
                "KCLocalKeychains", "KCItemSources", "KCBackupArchive", "KCBackupEngine",
            ]),
        .target(
            name: "KCTaskSupport",
            dependencies: [
                "KCTestSupport", "KCAgeEncryption", "KCAgePlugins", "KCAsking", "KCStoreTasks", "KCByteStreams",
                "KCConsole",
                "KCCryptography",
                "KCDeviceIdentity", "KCKeychainModel", "KCKeychainStore", "KCLocalKeychains",
            ],
            path: "Tests/KCTaskSupport", swiftSettings: settings + quickly),
        tests("KCAsking", ["KCTaskSupport", "KCByteStreams", "KCConsole"]),
        tests(
            "KCStoreTasks",
            [
                "KCTaskSupport", "KCAsking", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCHomeFiles",
                "KCItemStores", "KCItemSources", "KCKeychainModel", "KCKeychainStore", "KCLocalKeychains",
            ]),
        tests(
            "KCForeignReader", ["KCAgeEncryption", "KCByteStreams", "KCItemSources", "KCKeychainModel", "KCSandbox"]),
        tests("KCBackupTasks", ["KCAsking", "KCKeychainModel"]),
        tests(
            "KCBackupJobs",
            [
                "KCAsking", "KCBackupTasks", "KCBackupArchive", "KCBackupCatalogue", "KCBackupEngine", "KCByteStreams",
                "KCCryptography", "KCDeviceIdentity", "KCKeychainKeys", "KCKeychainModel", "KCLocalKeychains",
                "KCStoreTasks",
            ]),
        tests(
            "KCTerminal",
            [
                "KCAgeEncryption", "KCAsking", "KCBackupArchive", "KCBackupCatalogue", "KCBackupEngine",
                "KCBackupJobs", "KCBackupTasks", "KCByteStreams", "KCConsole", "KCCryptography", "KCDeviceIdentity",
                "KCFileProtection", "KCFleet", "KCFleetIndex", "KCForeignReader", "KCHomeFiles", "KCItemSources",
                "KCKernelKeyring",
                "KCKeychainKeys", "KCKeychainModel", "KCKeychainStore", "KCLocalKeychains", "KCQRCodes", "KCRemotes",
                "KCReportText", "KCSecretService", "KCSandbox", "KCSecurityTokens", "KCStoreTasks", "KCFleetCommand",
                "KCProtectCommand",
            ],
            exclude: ["Messages.txt"]),
        tests(
            "kcbackup",
            [
                "KCTerminal", "KCArchiveForgery", "KCAsking", "KCStoreTasks", "KCBackupTasks", "KCBackupJobs",
                "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCAgeEncryption", "KCKeychainModel",
                "KCKeychainStore", "KCItemSources", "KCForeignFormats", "KCLocalKeychains", "KCKernelKeyring",
                "KCBackupCatalogue", "KCConsole", "KCRemotes", "KCFleet", "KCFleetIndex", "KCReportText",
                "KCReportPages", "KCQRCodes", "KCSandbox", argumentParser, "KCFleetCommand", "KCProtectCommand",
            ],
            exclude: ["Canaries", "Compatibility", "Desktop", "Help", "Screens", "Stories"]),
        tests("KCFleetCommand"),
        tests("KCProtectCommand"),
        tests(
            "KCReaderCommand",
            ["KCByteStreams", "KCForeignFormats", "KCForeignReader", "KCItemSources", "KCKeychainModel"]),
        tests(
            "KCSecurityCommand",
            [
                "KCSecurityStatus", "KCByteStreams", "KCCryptography", "KCDeviceIdentity", "KCKernelKeyring",
                "KCKeychainModel",
                "KCKeychainStore", "KCLocalKeychains", "KCCertificateItems", "KCConsole",
            ],
            exclude: ["Listings", "Stories"]),
        .testTarget(
            name: "FaultTests", dependencies: ["KCTestSupport", "kcbackup", "KCSecurityCommand"],
            exclude: ["pairs.sh", "trial.sh"], swiftSettings: settings + quickly),
        .testTarget(name: "StyleTests", dependencies: ["KCTestSupport"], swiftSettings: settings + quickly),
    ]
)

// TEST_TARGETS=KCTarArchiveTests leaves out all other tests, so that a build of the tests needs little of the package.
if let chosen = Context.environment["TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
