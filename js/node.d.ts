// The little of Node that the package uses, so that checking types needs no other package.
declare const process: { versions?: { node?: string }; cwd(): string };
declare module "node:fs/promises" {
  export function readFile(address: URL): Promise<Uint8Array<ArrayBuffer>>;
}
