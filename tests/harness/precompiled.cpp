// An empty program, the target to which the precompiled headers of tests (cmake/LacunaTest.cmake) belong.
int main() { return 0; }
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
