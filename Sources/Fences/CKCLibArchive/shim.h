#pragma once

#include <archive.h>
#include <archive_entry.h>

// Swift does not import macros that contain casts.
static const unsigned int kcb_regular_file = AE_IFREG;
static const int kcb_format_ustar = ARCHIVE_FORMAT_TAR_USTAR;
