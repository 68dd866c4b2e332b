#include "model/model_file.hpp"
#include "io/zip/zip_reader.hpp"

#include <cmath>

#include "core/base/fail.hpp"
#include "core/base/json_depth.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "io/file/printable.hpp"
#include "io/zip/zip_writer.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr const char* kFormat = "kandinsky-unet";
constexpr int kVersion = 1;
constexpr std::uint64_t kPurpose = 0x77656967687473;  // "weights"

bool is_moment(TensorRole role) {
    return role == TensorRole::first_moment || role == TensorRole::second_moment;
}

std::vector<std::size_t> shape_of(const TensorInfo& info) {
    return {info.shape, info.shape + info.rank};
}
}  // namespace

bool is_model_file(const std::filesystem::path& path) {
    try {
        const ZipReader archive(path);
        return archive.has("meta.json") && archive.comment().rfind(kFormat, 0) == 0;
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::file) throw;
        return false;
    }
}

void write_model(const std::filesystem::path& path, const ModelHeader& header, const Network& network,
                 bool with_moments) {
    AtomicFile file(path);
    write_model(file, header, network, with_moments);
    file.commit();
}

void write_model(AtomicFile& file, const ModelHeader& header, const Network& network, bool with_moments) {
    const ordered_json meta{{"format", kFormat},
                            {"version", kVersion},
                            {"inputs", header.shape.inputs},
                            {"outputs", header.shape.outputs},
                            {"width", header.shape.width},
                            {"depth", header.shape.depth},
                            {"intensity", header.intensity},
                            {"step", header.step},
                            {"steps", header.steps},
                            {"training", header.training},
                            {"log", header.log}};
    ZipWriter zip(file);
    const std::string text = meta.dump(1);
    zip.add("meta.json", {reinterpret_cast<const std::byte*>(text.data()), text.size()});
    for (std::size_t i = 0; i < network.tensors(); ++i) {
        const TensorInfo info = network.tensor(i);
        if (is_moment(info.role) && !with_moments) continue;
        Array values = Array::zeros(DType::float32, shape_of(info));
        network.read(i, reinterpret_cast<float*>(values.mutable_data()));
        zip.add_array(info.name, values.view());
    }
    zip.finish(std::string(kFormat) + " ", true);
}

ModelHeader read_model_header(const std::filesystem::path& path) {
    const ZipReader archive(path);
    if (!archive.has("meta.json") || archive.comment().rfind(kFormat, 0) != 0)
        fail(ErrorKind::data, "{} is not a model that kandinsky trained", printable(path.string()));
    const Array bytes = archive.bytes("meta.json");
    ModelHeader header;
    int version = 0;
    const auto* const text = bytes.data_as<char>();
    if (nests_deeper({text, bytes.view().size()}))
        fail(ErrorKind::data, "{}: meta.json nests deeper than {}", printable(path.string()), kJsonDepth);
    try {
        const ordered_json meta = ordered_json::parse(text, text + bytes.view().size());
        version = meta.at("version");
        header.shape = {meta.at("inputs"), meta.at("outputs"), meta.at("width"), meta.at("depth")};
        header.intensity = meta.at("intensity");
        header.step = meta.at("step");
        header.steps = meta.at("steps");
        header.training = meta.at("training");
        header.log = meta.at("log");
    } catch (const nlohmann::json::exception&) {
        fail(ErrorKind::data, "{}: meta.json is damaged; use an intact copy", printable(path.string()));
    }
    if (version > kVersion)
        fail(ErrorKind::data, "{} was written by a newer kandinsky (model format {}); update kandinsky",
             printable(path.string()), version);
    return header;
}

void read_model(const std::filesystem::path& path, Network& network, bool with_moments) {
    const ZipReader archive(path);
    if (!archive.checksum_ok())
        fail(ErrorKind::data, "{} is damaged: its checksum is wrong", printable(path.string()));
    for (std::size_t i = 0; i < network.tensors(); ++i) {
        const TensorInfo info = network.tensor(i);
        if (is_moment(info.role) && !with_moments) continue;
        if (!archive.has(std::string(info.name) + ".npy"))
            fail(ErrorKind::data, "{} lacks the weights '{}'", printable(path.string()), info.name);
        const Array values = archive.array(info.name);
        if (values.shape() != shape_of(info) || values.dtype() != DType::float32)
            fail(ErrorKind::data, "{}: the weights '{}' are {} of shape {}, which does not fit the network",
                 printable(path.string()), info.name, name_of(values.dtype()), values.view().shape_text());
        network.write(i, values.to_vector<float>().data());
    }
}

void initialise(Network& network, std::uint64_t seed) {
    for (std::size_t i = 0; i < network.tensors(); ++i) {
        const TensorInfo info = network.tensor(i);
        std::vector<float> values(info.elements(), 0.0F);
        if (info.role == TensorRole::weight) {
            const std::size_t fan_in = values.size() / info.shape[0];
            const double spread = std::sqrt(2.0 / static_cast<double>(fan_in));
            // One random stream per output channel.
            parallel_for(info.shape[0], [&](std::size_t channel) {
                Random random(seed, kPurpose ^ mix(i), channel);
                for (std::size_t k = 0; k < fan_in; ++k)
                    values[channel * fan_in + k] = static_cast<float>(spread * random.normal());
            });
        }
        network.write(i, values.data());
    }
}

std::uint64_t count_parameters(const Network& network) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < network.tensors(); ++i)
        if (!is_moment(network.tensor(i).role)) total += network.tensor(i).elements();
    return total;
}

}  // namespace kandinsky
