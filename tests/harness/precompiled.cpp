// An empty program: the precompiled headers of tests (cmake/LacunaTest.cmake) must belong to a target.
int main() { return 0; }
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
