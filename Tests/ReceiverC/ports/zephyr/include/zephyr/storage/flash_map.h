#include "zephyr.h"
