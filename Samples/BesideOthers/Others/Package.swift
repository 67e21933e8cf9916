// swift-tools-version: 6.2
import PackageDescription

// Names that a package beside kcbackup may have for its targets. `CSystem`, which is in swift-system, is another.
let names = ["Console", "Cryptography", "TestSupport", "CSQLite", "CZlib", "AsksForSecurity"]

// As others write packages, knowing nothing of kcbackup.
let package = Package(
    name: "Others",
    products: [.library(name: "Others", targets: names)],
    targets: names.map { .target(name: $0) })
