#pragma once

// PostgreSQL's numbers (OIDs) of the types that cells and parameters have: pg_type.dat of its
// source. They never change.
namespace stepscope::type_number {

inline constexpr unsigned kBool = 16;
inline constexpr unsigned kBytea = 17;
inline constexpr unsigned kBigint = 20;
inline constexpr unsigned kSmallint = 21;
inline constexpr unsigned kInteger = 23;
inline constexpr unsigned kText = 25;
inline constexpr unsigned kOid = 26;
inline constexpr unsigned kReal = 700;
inline constexpr unsigned kDouble = 701;
inline constexpr unsigned kByteaArray = 1001;
inline constexpr unsigned kTextArray = 1009;
inline constexpr unsigned kBigintArray = 1016;
inline constexpr unsigned kNumeric = 1700;
inline constexpr unsigned kJsonb = 3802;

}  // namespace stepscope::type_number
