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

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// A library of the floor whose folder is named.
func library(_ name: String, in floor: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)", swiftSettings: settings)
}

func tests(
    _ subject: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    .testTarget(
        name: subject + "Tests",
        dependencies: [.byName(name: subject), "TestSupport"] + dependencies,
        exclude: exclude,
        swiftSettings: settings)
}

let package = Package(
    name: "kcbackup",
    products: [
        .library(name: "KeychainSecurity", targets: ["KeychainSecurity"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "SAMKeychain", targets: ["SAMKeychain"]),
        .library(name: "SSKeychain", targets: ["SSKeychain"]),
        .executable(name: "kcbackup", targets: ["kcbackup"]),
        .executable(name: "security", targets: ["SecurityCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
    ],
    targets: [
        .systemLibrary(
            name: "CArgon2", path: "Sources/Fences/CArgon2", pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(
            name: "CExpat", path: "Sources/Fences/CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CFiles", path: "Sources/Fences/CFiles"),
        .systemLibrary(
            name: "CGCrypt", path: "Sources/Fences/CGCrypt", pkgConfig: "libgcrypt",
            providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(
            name: "CKeyUtils", path: "Sources/Fences/CKeyUtils", pkgConfig: "libkeyutils",
            providers: [.apt(["libkeyutils-dev"])]),
        .systemLibrary(
            name: "CLibArchive", path: "Sources/Fences/CLibArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CLibSecret", path: "Sources/Fences/CLibSecret"),
        .systemLibrary(
            name: "CLibCrypto", path: "Sources/Fences/CLibCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/Fences/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(name: "CSystem", path: "Sources/Fences/CSystem"),
        .systemLibrary(
            name: "CZlib", path: "Sources/Fences/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZxcvbn", path: "Sources/Fences/CZxcvbn", providers: [.apt(["libzxcvbn-dev"])]),

        library("SecurityStatus", in: "Apple", []),
        library("ByteStreams", in: "Foundations", ["CFiles"]),
        library("Cryptography", in: "Foundations", ["ByteStreams", "CLibCrypto"]),
        library("Argon2", in: "Foundations", ["ByteStreams", "Cryptography", "CArgon2"]),
        library("Salsa20", in: "Foundations", ["ByteStreams", "Cryptography", "CGCrypt"]),
        library("DeviceIdentity", in: "Device", ["ByteStreams", "Cryptography"]),
        library("TarArchive", in: "Formats", ["ByteStreams", "CLibArchive"]),
        library("GzipStreams", in: "Formats", ["ByteStreams", "CZlib"]),
        library("XMLDocuments", in: "Formats", ["ByteStreams", "CExpat"]),
        library("AgeEncryption", in: "Formats", ["ByteStreams", "Cryptography"]),
        library("KernelKeyring", in: "Foundations", ["ByteStreams", "CKeyUtils"]),
        library("PasscodeStrength", in: "Keychain", ["ByteStreams", "CZxcvbn"]),
        library("KeychainModel", in: "Keychain", ["ByteStreams"]),
        library("CertificateItems", in: "Keychain", ["ByteStreams", "Cryptography", "KeychainModel"]),
        library(
            "KeychainKeys", in: "Keychain", ["ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel"]),
        library(
            "KeychainStore", in: "Keychain",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "KernelKeyring", "KeychainModel", "KeychainKeys",
                "CSQLite",
            ]),
        library(
            "LocalKeychains", in: "Keychain",
            ["ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel", "KeychainKeys", "KeychainStore"]),
        library("ItemSources", in: "Sources", ["ByteStreams", "Cryptography", "KeychainModel"]),
        library(
            "ForeignFormats", in: "Sources",
            [
                "ByteStreams", "Cryptography", "Argon2", "Salsa20", "TarArchive", "GzipStreams", "XMLDocuments",
                "AgeEncryption", "KeychainModel", "KeychainStore", "CertificateItems", "ItemSources",
            ]),
        library(
            "SecretService", in: "Sources",
            ["ByteStreams", "Cryptography", "KeychainModel", "KeychainKeys", "ItemSources", "CLibSecret"]),
        library(
            "KeychainSecurity", in: "Apple",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "KernelKeyring", "KeychainModel", "KeychainStore",
                "LocalKeychains", "CertificateItems", "SecurityStatus",
            ]),
        library("Security", in: "Apple", ["KeychainSecurity"]),
        library("SAMKeychain", in: "Apple", ["KeychainSecurity"]),
        library("SSKeychain", in: "Apple", ["SAMKeychain"]),
        library("Console", in: "Programs", ["ByteStreams", "CSystem"]),
        library(
            "BackupArchive", in: "Archive",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "TarArchive", "GzipStreams", "AgeEncryption",
                "KeychainModel",
            ]),
        library(
            "BackupEngine", in: "Backup",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel", "KeychainKeys", "ItemSources",
                "BackupArchive",
            ]),
        library(
            "BackupCatalogue", in: "Backup",
            ["ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel", "BackupArchive", "BackupEngine"]),
        .executableTarget(
            name: "kcbackup",
            dependencies: [
                "ByteStreams", "Cryptography", "DeviceIdentity", "AgeEncryption", "KeychainModel", "KeychainKeys",
                "KeychainStore", "ItemSources", "ForeignFormats", "SecretService", "LocalKeychains", "KernelKeyring",
                "PasscodeStrength", "BackupArchive", "BackupEngine", "BackupCatalogue", "Console", argumentParser,
            ],
            path: "Sources/Programs/kcbackup",
            swiftSettings: settings),
        .executableTarget(
            name: "SecurityCommand",
            dependencies: [
                "SecurityStatus", "ByteStreams", "Cryptography", "DeviceIdentity", "KernelKeyring", "KeychainModel",
                "KeychainKeys", "KeychainStore", "LocalKeychains", "CertificateItems", "Console",
            ],
            path: "Sources/Programs/SecurityCommand",
            swiftSettings: settings),

        .executableTarget(
            name: "KeychainDemo", dependencies: ["Security"], path: "Samples/KeychainDemo",
            exclude: ["KeychainDemo.entitlements", "output.txt"], swiftSettings: clientSettings),
        .executableTarget(
            name: "ConcurrentProgram", dependencies: ["KeychainSecurity"], path: "Tests/ConcurrentProgram",
            swiftSettings: clientSettings),

        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CTestSupport", "ByteStreams", "Cryptography", "DeviceIdentity", "KernelKeyring", "KeychainModel",
                "KeychainStore", "LocalKeychains", "Console", "CSQLite",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: settings),
        tests("BackupCatalogue", ["BackupEngine", "ByteStreams", "DeviceIdentity", "KeychainModel"]),
        tests("SecurityStatus"),
        tests("ByteStreams"),
        tests("Cryptography"),
        tests("Argon2", ["ByteStreams", "Cryptography"]),
        tests("Salsa20", ["ByteStreams", "Cryptography"]),
        tests("XMLDocuments"),
        tests("DeviceIdentity"),
        tests("TarArchive"),
        tests("GzipStreams"),
        tests("AgeEncryption", ["CZlib"], exclude: ["Vectors"]),
        tests("KernelKeyring"),
        tests("PasscodeStrength"),
        tests("KeychainModel"),
        tests("CertificateItems", ["ByteStreams", "Cryptography", "KeychainModel"]),
        tests("KeychainKeys", ["ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel"]),
        tests("ItemSources", ["ByteStreams", "KeychainModel"]),
        tests("SecretService", ["KeychainModel", "ItemSources"]),
        tests(
            "ForeignFormats",
            [
                "ByteStreams", "Cryptography", "Argon2", "AgeEncryption", "ItemSources", "KeychainModel",
                "SecretService",
            ],
            exclude: ["Fixtures"]),
        tests("KeychainStore", ["KernelKeyring", "KeychainKeys"], exclude: ["Keychains"]),
        tests("LocalKeychains", ["ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel", "KeychainStore"]),
        tests("Security", settings: clientSettings),
        tests(
            "KeychainSecurity",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "KeychainModel", "KeychainKeys", "KeychainStore",
                "LocalKeychains",
                "KernelKeyring", "SecurityStatus",
            ],
            settings: clientSettings),
        tests(
            "SAMKeychain", ["ByteStreams", "KeychainModel", "KeychainStore"], settings: clientSettings),
        tests("SSKeychain", ["SAMKeychain"]),
        tests("Console", ["ByteStreams"]),
        .target(
            name: "ArchiveForgery",
            dependencies: [
                "TestSupport", "ByteStreams", "Cryptography", "DeviceIdentity", "TarArchive", "GzipStreams",
                "AgeEncryption", "KeychainModel", "BackupArchive",
            ],
            path: "Tests/ArchiveForgery", swiftSettings: settings),
        tests(
            "BackupArchive",
            [
                "ArchiveForgery", "ByteStreams", "Cryptography", "DeviceIdentity", "GzipStreams", "AgeEncryption",
                "KeychainModel",
            ]),
        tests(
            "BackupEngine",
            [
                "ArchiveForgery", "BackupArchive", "AgeEncryption", "DeviceIdentity", "TarArchive", "KeychainModel",
                "KeychainKeys", "KeychainStore", "ItemSources",
            ],
            exclude: ["Archives"]),
        tests(
            "kcbackup",
            [
                "ByteStreams", "Cryptography", "DeviceIdentity", "AgeEncryption", "KeychainModel", "KeychainStore",
                "ItemSources", "ForeignFormats", "SecretService", "LocalKeychains", "KernelKeyring", "BackupArchive",
                "BackupEngine", "BackupCatalogue", "Console", argumentParser,
            ],
            exclude: ["Desktop", "Help", "Screens", "Stories"]),
        tests(
            "SecurityCommand",
            [
                "SecurityStatus", "ByteStreams", "Cryptography", "DeviceIdentity", "KernelKeyring", "KeychainModel",
                "KeychainStore", "LocalKeychains", "CertificateItems", "Console",
            ],
            exclude: ["Listings", "Stories"]),
        .testTarget(
            name: "FaultTests", dependencies: ["TestSupport", "kcbackup", "SecurityCommand"], exclude: ["trial.sh"],
            swiftSettings: settings),
        .testTarget(name: "StyleTests", dependencies: ["TestSupport"], swiftSettings: settings),
    ]
)
