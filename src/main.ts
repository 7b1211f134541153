// The program of a checkout under the name that needs no set-up: `node src/main.ts serve`.
import '../bin/platform.ts'
