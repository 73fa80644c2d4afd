// `npm start`: sets the machine up, then runs the service.
import { runService } from './run-service.mjs';
import { SetUpStopped, setUp } from './set-up.mjs';

const root = new URL('../..', import.meta.url).pathname;

try {
  await setUp('start', root);
  process.exitCode = await runService(root, process.argv.slice(2), address => {
    console.log(`
Try it; this makes hello.pdf:
  echo '<h1>Hello, Platen</h1>' | curl -sS -F 'files=@-;filename=index.html' -o hello.pdf ${address}/forms/chromium/convert/html

The address is ${address}, Ctrl-C ends the service, npm start -- --help prints all settings.
`);
  });
} catch (error) {
  if (!(error instanceof SetUpStopped)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
