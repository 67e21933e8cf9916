#pragma once

#include <archive.h>
#include <archive_entry.h>

// Swift does not import a macro that contains a cast.
static const unsigned int kcb_regular_file = AE_IFREG;
