import { networkInterfaces } from 'node:os';
import { destination, isLoopback } from './address.ts';

/** The ports of all doors that are open in this process: none may lead to another. */
const doors = new Set<number>();

/** Keeps a door's port from being dialled through any door, until it is disposed of. */
export function guardPort(port: number): Disposable {
  doors.add(port);
  return { [Symbol.dispose]: () => doors.delete(port) };
}

/** Whether one of these addresses with this port is the service itself: a door, or a port that was named. */
export function isOurOwn(addresses: readonly string[], port: number, named: readonly number[]): boolean {
  if (!doors.has(port) && !named.includes(port)) return false;
  return addresses.some(address => isLoopback(address) || ownAddresses().includes(destination(address)));
}

/** Asked for on each such attempt, as interfaces come and go; such attempts are rare. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(one => one.address));
}
