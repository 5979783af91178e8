// Parses each line of the transcripts in a folder in the runtime of gjc; `ci/bench.sh` measures the check beside it.
const { readdirSync, readFileSync } = require("fs");
const folder = process.argv[2];
for (const name of readdirSync(folder)) {
  for (const line of readFileSync(`${folder}/${name}`, "utf8").split("\n")) {
    if (line.trim()) JSON.parse(line);
  }
}
