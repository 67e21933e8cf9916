#pragma once

#include <archive.h>
#include <archive_entry.h>

// Macros with casts are not imported into Swift.
static const unsigned int kcb_regular_file = AE_IFREG;
static const int kcb_format_ustar = ARCHIVE_FORMAT_TAR_USTAR;
