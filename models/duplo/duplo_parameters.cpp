#include "models/duplo/duplo_parameters.h"

namespace lacuna {

void DuploParameters::describe(ParameterSection& s) {
  s.add("mode", mode, "Whether loads of lowered convolutions are looked up in a history of loads",
        {{"off", static_cast<int>(DuploMode::off)}, {"on", static_cast<int>(DuploMode::on)}}, {.source = "Duplo (MICRO '20)"});
  s.add("ids", ids,
        "Identification of equal data: the paper's formula as printed with corrected channels, which yields wrong IDs; the "
        "element of the input; the address",
        {{"paper", static_cast<int>(DatumIds::paper)},
         {"exact", static_cast<int>(DatumIds::exact)},
         {"address", static_cast<int>(DatumIds::address)}},
        {.source = "Duplo (MICRO '20), section III.C; docs/deviations/duplo.md"});
  s.add("entry", entry,
        "Data covered by an entry: the tile of a load, or one row of a tile of 16 x 16. Rows are an upper bound for any "
        "hardware: their data move between lanes and SIMDs at no cost",
        {{"tile", static_cast<int>(DuploEntry::tile)}, {"row", static_cast<int>(DuploEntry::row)}},
        {.source = "Duplo (MICRO '20) does not give it; docs/deviations/duplo.md"});
  s.add("entries", entries, "Entries of a core's load history buffer, a power of two; 0: any number",
        {.range = {0, 65536}, .unit = "entries", .source = "Duplo (MICRO '20), section V.B"});
  s.add("ways", ways, "Ways of the load history buffer",
        {.range = {1, 64}, .power_of_two = true, .unit = "ways", .source = "Duplo (MICRO '20), section V.E"});
  s.add("hash", hash,
        "Set of a tile: low bits of its ID, those above the bits that are always 0, or these with upper bits folded in",
        {{"low", static_cast<int>(HistoryHash::low)},
         {"shift", static_cast<int>(HistoryHash::shift)},
         {"xor", static_cast<int>(HistoryHash::xor_)}},
        {.source = "Duplo (MICRO '20), section IV.B has a hash and does not give it"});
  s.add("latency", latency, "Cycles of ID and look-up", {.range = {0, 64}, .source = "Duplo (MICRO '20), section IV.A"});
  s.add(
      "release", release,
      "Lifetime of an entry: until the last of its loads retires, until its register is overwritten, or, as a bound, unlimited",
      {{"retire", static_cast<int>(HistoryKeep::until_retired)},
       {"overwrite", static_cast<int>(HistoryKeep::until_overwritten)},
       {"never", static_cast<int>(HistoryKeep::always)}},
      {.source = "Duplo (MICRO '20), section IV.B"});
  s.add("scope", scope, "Loads that an entry serves: those of all SIMDs of the core, or of the SIMD whose register it is",
        {{"core", static_cast<int>(DuploScope::core)}, {"simd", static_cast<int>(DuploScope::simd)}},
        {.source = "docs/deviations/duplo.md: each SIMD has its own register file"});
  s.add("copy_cycles", copy_cycles,
        "Cycles of a copy to the register file of another SIMD; 0: not set, which is 4. Not to be set with duplo.scope = simd, "
        "where nothing is copied",
        {.range = {0, 64}, .source = "docs/deviations/duplo.md"});
  s.add("convolutions", convolutions, "Convolutions whose kernels may run at the same time",
        {.range = {1, 256}, .source = "docs/deviations/duplo.md: a tag's process and image do not distinguish them"});
  s.add("l1", l1, "Whether the L1 cache, or the LDS, is accessed in parallel with the history or after it",
        {{"parallel", static_cast<int>(DuploL1::parallel)}, {"after", static_cast<int>(DuploL1::after)}},
        {.source = "Duplo (MICRO '20), section IV.B"});
  s.add("check", check,
        "Whether each hit compares the register's data with the load's: differences are counted and reported. Builds for "
        "debugging always compare",
        {.source = "choice"});
  s.add("trace", trace,
        "Whether a trace of each load history buffer is written to the output folder: look_ups.csv.gz (docs/guide/duplo.md). "
        "Without "
        "influence on any result",
        {.source = "choice"});
}

}  // namespace lacuna
