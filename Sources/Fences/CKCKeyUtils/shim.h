#pragma once

#include <keyutils.h>
