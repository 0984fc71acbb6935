#!/usr/bin/env bash
# Tests the commands of docs/guide/sida.md, results of further `lacuna sida` commands, and the rejection of invalid ones.
source "$(dirname "$0")/common.sh"

mkdir -p bin build/release
ln -s "$LACUNA" bin/lacuna
PATH=$PWD/bin:$PATH
ln -s "$FIRMWARE" build/release/firmware
# The test page_docs_guide_sida runs the page's host programs.
sed -n '/^```sh$/,/^```$/p' "$SOURCE/docs/guide/sida.md" | sed '/^```/d; / exec /d' >commands.txt
[[ $(wc -l <commands.txt) == 16 ]] || fail "docs/guide/sida.md has other commands"
while read -r line; do
  eval "expect 0 $line"
  cat out.txt >>all.txt
done <commands.txt
[[ $(head -n 1 power.mtx) == "%%MatrixMarket matrix coordinate real general" ]] || fail "power.mtx is not a matrix"
# peaks ORDER: prints the peaks, in percent, of all tables that have this order.
peaks() { awk -v order="$1" '$1 == order { printf "%d ", $5 } END { print "" }' all.txt; }
read -r of_power of_shuffled_road of_triangular < <(peaks natural)
read -r _ of_road < <(peaks rcm)
read -r triangular < <(peaks triangular)
((of_power > 20 && of_power < 30 && of_shuffled_road > 20 && of_road < 3 && triangular < 10 && of_triangular < 10)) ||
  fail "peaks: natural $(peaks natural), rcm $(peaks rcm), triangular $(peaks triangular)"

# A prepared matrix equals the matrix from which it was prepared; 64 KiB have room for 5,461 entries.
expect 0 "$LACUNA" sida info power.prepared --order natural
[[ $(tail -n 1 out.txt | tr -s ' ' | cut -d ' ' -f 2-) == "$(grep '^triangular' all.txt | tr -s ' ' | cut -d ' ' -f 2-)" ]] || fail "the prepared matrix is another one"
awk '$1 == "natural" { line = $0 } END { split(line, cells, " "); exit !(line ~ / [1-9][0-9,]* +[0-9.]+ % +[0-9.]+ %$/) }' all.txt || fail "nothing is loaded again"

# A matrix that is generated in an order has the values that `sida info` prints for this order, even if its file is compressed.
expect 0 "$LACUNA" sida generate power:rows=2000,entries=20000 --order triangular --out ordered.mtx
gzip -k ordered.mtx
expect 0 "$LACUNA" sida info power:rows=2000,entries=20000 --order triangular
tail -n 1 out.txt | cut -c12- >expected.txt
expect 0 "$LACUNA" sida info ordered.mtx.gz --order natural
tail -n 1 out.txt | cut -c12- | diff -b expected.txt - >&2 || fail "the generated order is another one"

printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 1\n2 1 1\n3 2 5\n' >symmetric.mtx
expect 0 "$LACUNA" sida info symmetric.mtx
complains "lacuna: warning: symmetric.mtx: 1 entries are at the place of another one, and are added to it"
says "3 rows, 3 columns, 4 entries"
expect 0 "$LACUNA" sida info symmetric.mtx --as-stored
says "3 rows, 3 columns, 2 entries"
printf '1\n3\n2\n' >order.txt
expect 0 "$LACUNA" sida info symmetric.mtx --order order.txt
says "order.txt"

# refused MESSAGE ARGUMENT...: checks that the command is refused with the message and prints nothing.
refused() {
  expect 2 "$LACUNA" sida "${@:2}"
  complains "lacuna: $1"
  [[ ! -s out.txt ]] || fail "sida ${*:2} prints something"
}
refused "lacuna sida needs run or explain PROGRAM, info MATRIX, generate KIND, prepare MATRIX or machine"
refused "lacuna sida inof: must be run, explain, info, generate, prepare or machine; did you mean info?" inof road
refused "lacuna sida info needs a matrix" info
refused "no kind of matrix 'raod'; did you mean road?" info raod:rows=5
refused "a matrix of kind road has no 'tyle'; did you mean tile?" info road:tyle=5
refused "no.mtx: No such file or directory" info no.mtx
refused ".: is a folder" info .
refused "no order and no file 'rmc'; did you mean rcm?" info road --order rmc
refused "order.txt: the order has 3 numbers, the matrix 10000 rows" info road --order order.txt
refused "the side of a block is 1 to 256" info road --block 257
refused "a sub-tensor has at least one column" info road --sub-tensor 0
refused "lacuna sida generate needs --out FILE" generate road
refused "--out is not an option of lacuna sida info; it belongs to generate, prepare, run" info road --out road.mtx
refused "lacuna sida prepare needs --out FILE" prepare road
refused "--room lots: " info road --room lots
head -c 1000 power.prepared >short.prepared
refused "short.prepared: the prepared matrix has another size than its header says" info short.prepared
refused "a matrix has one order" generate road --order rcm --order natural --out road.mtx
refused "unexpected more" info road more
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n' >wrong.mtx
refused "wrong.mtx:3: the column of an entry is a whole number from 1 to 2, not '3'" info wrong.mtx
expect 74 "$LACUNA" sida generate road --out nowhere/road.mtx

# R is 0 in every step, because memory binds; with few PEs it is not.
expect 0 "$LACUNA" sida run pr --matrix power:rows=20000,entries=256000 --iterations 4 --set sida.pes=16 --timeline eager.svg
[[ $(grep -c ", R: [0-9,]* entries, [0-9,]* fetched" pr.svg) == 0 && $(grep -c ", R: [0-9,]* entries, [0-9,]* fetched" eager.svg) -gt 0 ]] ||
  fail "R in the pictures"
grep -q "<title>pr on power:rows=20000,entries=256000, pass 1</title>" pr.svg || fail "pr.svg is not a picture of PageRank's repeated pass"
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --machine oracle --timeline x.svg
complains "--timeline is of --machine sida"
# Programs: results are correct, and the machines differ in time.
[[ $(grep -c "as one operation after the other computes it, to the bit" all.txt) == 3 ]] || fail "results of docs/guide/sida.md's programs"
cycles() { sed -n 's/^time .* \([0-9,]*\) cycles$/\1/p' out.txt | tr -d ,; }
# part NAME: prints part NAME of the energy in uJ.
part() { awk -v name="$1" '/^energy / { table = 1 } table && $1 == name { printf "%d", 1000 * $2 }' out.txt; }
for machine in sida oracle roofline cpu; do
  expect 0 "$LACUNA" sida run pr --matrix power:rows=20000,entries=256000 --iterations 20 --machine $machine --config energy/sida
  declare "$machine=$(cycles)" "memory_of_$machine=$(part memory)" "total_of_$machine=$(part total)"
done
expect 0 "$LACUNA" sida run pr --matrix road:rows=2500 --iterations 20 --machine oracle
awk '/^passes of the program/ { table = 1; next } table && NF { ++passes } /^pass [0-9]+, two products/ { ++fused } END { exit !(passes > 1 && fused) }' out.txt ||
  fail "the oracle's passes: $(cat out.txt)"
((oracle <= sida && 2 * sida < roofline && roofline < cpu)) ||
  fail "PageRank takes $sida cycles, $oracle on the oracle, $roofline on the roofline, $cpu on the CPU"
((memory_of_oracle == memory_of_sida && 2 * memory_of_sida < memory_of_roofline && total_of_sida < total_of_roofline)) ||
  fail "energy of memory: $memory_of_sida, $memory_of_oracle, $memory_of_roofline uJ; of all: $total_of_sida, $total_of_roofline uJ"
[[ $memory_of_cpu == "" ]] || fail "the CPU has an energy"
expect 0 "$LACUNA" sida machine --set sida.buffer=128MiB
grep -Eq "^buffer, .* 121\.5$" out.txt || fail "the buffer's area is not proportional to its size"
# The fewer operations share a pass, the longer programs take; the results are the same.
before=0
for fusion in auto producer-consumer none; do
  expect 0 "$LACUNA" sida run pr --matrix power:rows=20000,entries=256000 --iterations 20 --fusion $fusion --check
  (($(cycles) > before)) || fail "PageRank takes $(cycles) cycles with --fusion $fusion, $before with more of it"
  before=$(cycles)
done
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --fusion nine
complains "--fusion nine: must be auto, producer-consumer or none; did you mean none?"
expect 0 "$LACUNA" sida explain cg
says "the next product's vector needs the reduction by ADD"
expect 2 "$LACUNA" sida run prr --matrix road:rows=100
complains 'program "prr" is unknown; did you mean pr?'
expect 2 "$LACUNA" sida run pr
complains "lacuna sida run needs --matrix"
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --machine oracel
complains "must be sida, roofline, oracle, cpu or device; did you mean oracle?"
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --set sida.bufer=1MiB
complains "--set sida.bufer=1MiB: unknown parameter sida.bufer; did you mean sida.buffer?"
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --room 64KiB
complains "--room is not an option of lacuna sida run; it belongs to info"
expect 2 "$LACUNA" sida explain pr --check
complains "--check is not an option of lacuna sida explain; it belongs to run"
expect 2 "$LACUNA" sida run pr --matrix road:rows=100 --set sida.pes=0
complains "--set sida.pes=0"
# A search begins at the same vertex in any order, and therefore takes the same number of iterations.
iterations() { sed -n 's/^iterations  *\([0-9,]*\),.*/\1/p' out.txt; }
expect 0 "$LACUNA" sida run bfs --matrix road:rows=10000,kept=0.8 --source 5000
in_order=$(iterations)
expect 0 "$LACUNA" sida run bfs --matrix road:rows=10000,kept=0.8 --source 0
[[ $(iterations) != "$in_order" ]] || fail "both vertices need as many iterations"
for order in rcm random; do
  expect 0 "$LACUNA" sida run bfs --matrix road:rows=10000,kept=0.8 --source 5000 --order $order --check
  [[ $(iterations) == "$in_order" ]] || fail "breadth-first search takes $(iterations) iterations in order $order, not $in_order"
done
expect 2 "$LACUNA" sida run bfs --matrix road:rows=100 --source 5000
complains "--source 5000: there are rows 0 to 99"

# Files of a run: statistics have the printed numbers, and the effective configuration repeats the run.
expect 0 "$LACUNA" sida run pr --matrix road:rows=2500 --set sida.buffer=1MiB --out first
# statistic FOLDER NAME...: prints the counter with this path of names in statistics.json.
statistic() {
  python3 -c 'import json, sys, functools
print(functools.reduce(dict.get, sys.argv[2:], json.load(open(sys.argv[1] + "/statistics.json"))["statistics"])["value"])' "$@"
}
[[ $(statistic first sida cycles) == "$(cycles)" ]] ||
  fail "statistics.json has other cycles than $(cycles)"
expect 0 "$LACUNA" sida run pr --matrix road:rows=2500 --config first/effective.cfg --out second --quiet
[[ ! -s out.txt ]] || fail "--quiet prints something"
[[ $(run_value first run_hash) == "$(run_value second run_hash)" ]] || fail "the effective configuration makes another run"
# A job on a GPU that exceeds the time limit is reported with reason and location; exit code and files are as for other runs.
expect 124 "$LACUNA" sida run pr --matrix road:rows=2500 --machine device --config sida --set sim.max_time=3us --out limited
complains "program pr has not ended: simulated time limit of 3.000 us reached"
complains "sida: queue 0, packet 0, program 0x"
[[ $(run_value limited exit_code) == 124 ]] || fail "statistics.json has another exit code than 124"
# Each job of a GPU has a line in jobs.csv, whose counts are those of the run. Passes in bulk move the same bytes as passes in
# detail.
of_job() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR == 2 { print $at }' "$1/jobs.csv"; }
for passes in bulk detailed; do
  expect 0 "$LACUNA" sida run pr --matrix road:rows=2500 --iterations 10 --machine device --config sida --set sida.passes=$passes --out $passes --check
  [[ $(wc -l <$passes/jobs.csv) == 2 && $(of_job $passes end) == "done" && $(of_job $passes iterations) == 10 && $(of_job $passes passes) == 6 ]] ||
    fail "jobs.csv: $(cat $passes/jobs.csv)"
  [[ $(statistic $passes gpu0 sida read csc) == "$(of_job $passes read_csc)" ]] || fail "the job and the accelerator have read other bytes"
done
# Each pass has a line in passes.csv; the lines add up to the counts of the run. sum_of FOLDER COLUMN
sum_of() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next } { sum += $at } END { printf "%d", sum }' "$1/passes.csv"; }
for passes in bulk detailed; do
  [[ $(wc -l <$passes/passes.csv) == 7 && $(sum_of $passes in_bulk) == "$(of_job $passes passes_in_bulk)" && $(sum_of $passes products) == 10 ]] ||
    fail "passes.csv: $(cat $passes/passes.csv)"
  for count in cycles read_csc written_outputs os_used stalled_os; do
    [[ $(sum_of $passes $count) == "$(of_job $passes $count)" ]] || fail "$count of all passes: $(sum_of $passes $count)"
  done
done
[[ $(sum_of first cycles) == "$(statistic first sida cycles)" && $(sum_of first read_csc) == "$(statistic first sida read csc)" ]] ||
  fail "passes.csv: $(cat first/passes.csv)"
# Energy of a job's GPU: PEs and buffer are blocks of it.
expect 0 "$LACUNA" sida run pr --matrix road:rows=2500 --iterations 10 --machine device --config sida --config energy/sida
awk '/^energy of the GPU/ { table = 1 } table && ($1 == "sida_pe" || $1 == "sida_buffer" || $1 == "total") && $2 > 0 { ++found } END { exit found != 3 }' out.txt ||
  fail "energy of the GPU: $(cat out.txt)"
[[ $(of_job bulk passes_in_bulk) == 3 && $(of_job detailed passes_in_bulk) == 0 ]] || fail "passes in bulk: $(of_job bulk passes_in_bulk)"
for bytes in read_csc read_x written_outputs; do
  [[ $(of_job bulk $bytes) == "$(of_job detailed $bytes)" ]] || fail "$bytes: $(of_job bulk $bytes) in bulk, $(of_job detailed $bytes) in detail"
done
# A job that has the memory to itself streams its matrix, past L2 and with the default columns of a sub-tensor, at 85 % of the
# memory's 512 GB/s or more: bytes per picosecond.
expect 0 "$LACUNA" sida run pr --matrix power:rows=300000,entries=3600000 --iterations 4 --machine device --config sida --set sida.path=dram --out stream --quiet
grep -Eq "^sub_tensor = 0( |$)" stream/effective.cfg || fail "the columns of a sub-tensor are not the default"
python3 - <<'PYTHON' || fail "a job alone leaves memory unused"
import json
import sys

sida = json.load(open("stream/statistics.json"))["statistics"]["gpu0"]["sida"]
moved = sum(count["value"] for way in ("read", "written") for count in sida[way].values())
share = moved / sida["time"]["value"] / 0.512
print(f"{100 * share:.1f} % of the peak")
sys.exit(not 0.85 <= share <= 1)
PYTHON
expect 2 "$LACUNA" sida run pr --matrix road:rows=2500 --config r9nano
complains "unknown parameter"
mkdir foreign
touch foreign/file
expect 2 "$LACUNA" sida run pr --matrix road:rows=2500 --out foreign
