// TarArchive
