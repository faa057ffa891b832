// What the engine imports beside its library, told to emscripten's linker. js/src/engine.js has the function itself.
mergeInto(LibraryManager.library, { halfword_thrown() {} });
