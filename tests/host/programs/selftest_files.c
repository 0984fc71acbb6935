#include <errno.h>
#include <semihost.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

void test_files(int argc, char** argv) {
  /* picolibc's start-up code inserts its own program name before the result of SYS_GET_CMDLINE. */
  CHECK_EQUAL(argc, 4);
  if (argc == 4) CHECK_EQUAL(strcmp(argv[1], "selftest") | strcmp(argv[2], "one") | strcmp(argv[3], "two"), 0);

  FILE* file = fopen("note.txt", "w");
  CHECK_EQUAL(file != NULL, 1);
  if (file == NULL) return;
  for (int i = 0; i < 1000; ++i) fprintf(file, "line %d\n", i);
  CHECK_EQUAL(fclose(file), 0);
  file = fopen("note.txt", "a");
  fputs("the end\n", file);
  fclose(file);

  CHECK_EQUAL(sys_semihost_rename("note.txt", "renamed.txt"), 0);
  CHECK_EQUAL(fopen("note.txt", "r") == NULL, 1);
  CHECK_EQUAL(errno, ENOENT);
  file = fopen("renamed.txt", "r");
  CHECK_EQUAL(file != NULL, 1);
  if (file == NULL) return;
  char line[32];
  for (int i = 0; i < 1000; ++i) {
    int number = -1;
    CHECK_EQUAL(fgets(line, sizeof line, file) != NULL, 1);
    sscanf(line, "line %d", &number);
    CHECK_EQUAL(number, i);
  }
  CHECK_EQUAL(fgets(line, sizeof line, file) != NULL && strcmp(line, "the end\n") == 0, 1);
  CHECK_EQUAL(fgets(line, sizeof line, file) == NULL, 1);
  fclose(file);
  const int handle = sys_semihost_open("renamed.txt", SH_OPEN_R_B);
  CHECK_EQUAL(sys_semihost_flen(handle), 8898);
  CHECK_EQUAL(sys_semihost_seek(handle, 8890), 0);
  CHECK_EQUAL(sys_semihost_read(handle, line, 8), 0);
  CHECK_EQUAL(memcmp(line, "the end\n", 8), 0);
  CHECK_EQUAL(sys_semihost_read(handle, line, 8), 8); /* end of file: no bytes were read */
  CHECK_EQUAL(sys_semihost_istty(handle), 0);
  const int terminal = sys_semihost_open(":tt", SH_OPEN_W);
  CHECK_EQUAL(sys_semihost_istty(terminal), 1);
  CHECK_EQUAL(sys_semihost_close(terminal), 0);
  CHECK_EQUAL(sys_semihost_close(handle), 0);
  CHECK_EQUAL(sys_semihost_close(handle), -1);
  CHECK_EQUAL(remove("renamed.txt"), 0);

  /* No access to files outside the root, and none to the host's shell. */
  CHECK_EQUAL(sys_semihost_open("../outside.txt", SH_OPEN_W), -1);
  CHECK_EQUAL(sys_semihost_open("/etc/hostname", SH_OPEN_R), -1);
  CHECK_EQUAL(sys_semihost_errno(), EACCES);
  CHECK_EQUAL(sys_semihost_system("true"), -1);

  CHECK_EQUAL(sys_semihost_feature(SH_EXT_EXIT_EXTENDED), 1);
  char name[64];
  CHECK_EQUAL(sys_semihost_tmpnam(name, 3, sizeof name), 0);
  CHECK_EQUAL(strcmp(name, "semihosting-3.tmp"), 0);
  /* Time is simulated: less than a second has passed. */
  CHECK_EQUAL(sys_semihost_time(), 0);
  CHECK_EQUAL(sys_semihost_clock() < 100, 1);
  const uint64_t tick = sys_semihost_elapsed();
  CHECK_EQUAL(sys_semihost_tickfreq(), 1000000000);
  CHECK_EQUAL(sys_semihost_elapsed() > tick, 1);
  char* memory = malloc(10000);
  CHECK_EQUAL(memory != NULL, 1);
  free(memory);
}
