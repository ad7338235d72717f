#pragma once

#include <cstdint>

namespace stepscope {

// PostgreSQL's binary format of numbers. Types are its catalog's numbers, which never change.
bool IsInteger(unsigned type);  // bool and oid too
bool IsReal(unsigned type);     // real, float8, numeric

// Two's complement, most significant byte first.
std::int64_t ReadBig(const char* bytes, int length);
double ReadReal(unsigned type, const char* bytes);

}  // namespace stepscope
