internal import Glibc
internal import KCForeignFormats
internal import KCForeignReader

// Reads one file of another program in a sandbox, for kcbackup, which starts it (docs/reader.md).
exit(ReaderService(FormatCatalogue()).run())
