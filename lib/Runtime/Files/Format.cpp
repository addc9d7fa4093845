// Compiles fmt's functions once. Compiled into each file that formats a number, they would be half of the runtime's
// code and of its compile time. Debian provides fmt only as a shared library, which programs do not need.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template void buffer<char>::append(const char *, const char *);
template void vformat_to(buffer<char> &, string_view, basic_format_args<buffer_context<char>>, locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
} // namespace detail
FMT_END_NAMESPACE
