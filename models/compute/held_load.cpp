#include "models/compute/held_load.h"
