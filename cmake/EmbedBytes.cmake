# The bytes of a file as elements of a C++ array: cmake -DFROM=... -DTO=... -P EmbedBytes.cmake
file(READ ${FROM} digits HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${digits}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" lines "${bytes}")
file(WRITE ${TO} "${lines}\n")
