#pragma once

namespace stepscope {

// Releases the pages of code that only the start of the program needed (symbols, relocations, the
// setting up of libraries): more than half of its memory. A page that is needed again comes back
// from the page cache.
void ReleaseStartupPages();

}  // namespace stepscope
